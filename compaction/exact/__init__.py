"""Exact values: found in what is archived, looked for in its summary, and put under it where it lost them (rules H)."""

from compaction.exact.block import ExactBlock, exact_block, exact_cap
from compaction.exact.finding import find_values
from compaction.exact.keeping import missing
from compaction.exact.kinds import Kind
from compaction.exact.values import Value

__all__ = ["ExactBlock", "Kind", "Value", "exact_block", "exact_cap", "find_values", "missing"]
