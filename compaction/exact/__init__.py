"""Exact values: found in what is archived, looked for in its summary, and put under it where it lost them (rules H).

`find_values(plan.archived)`, then `exact_block(values, summary, cap_tokens=exact_cap(window))`; the record's text is
the summary and the block's text behind it.
"""

from compaction.exact.block import ExactBlock, exact_block, exact_cap, split_blocks
from compaction.exact.finding import find_values
from compaction.exact.keeping import missing
from compaction.exact.kinds import Kind
from compaction.exact.values import Value

__all__ = ["ExactBlock", "Kind", "Value", "exact_block", "exact_cap", "find_values", "missing", "split_blocks"]
