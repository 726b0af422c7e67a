"""docs/compaction.md has a row for every rule, each row names files that exist, and a test there names the rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNTS = {"A": 7, "B": 9, "C": 7, "D": 5, "E": 9, "F": 0, "G": 5, "H": 3, "I": 6, "J": 5, "K": 5, "L": 0}
RULES = [f"{letter}{number or ''}" for letter, most in COUNTS.items() for number in range(min(1, most), most + 1)]


def rows() -> dict[str, list[str]]:
    """What stands in the columns, by the rule in the first."""
    lines = (ROOT / "docs" / "compaction.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {rule: rest for rule, *rest in cells if rule != "rule"}


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def is_there(name: str) -> bool:
    """A path below the project, the core or the rim, a template of the chat, or a function of a module of the core."""
    places = (ROOT / folder / name for folder in ("", "compaction", "chatapp", "templates/chat"))
    module, _, function = name.partition(".")
    source = ROOT / "compaction" / f"{module}.py"
    return any(place.exists() for place in places) or (
        source.is_file() and re.search(rf"^def {function}\(", source.read_text(), re.MULTILINE) is not None
    )


def sources(names: list[str]) -> list[str]:
    paths = [ROOT / name for name in names]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("test_*.py"))]
    return [file.read_text() for file in files]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_row_that_names_files_and_a_test_of_it(rule: str) -> None:
    assert rule in rows(), f"docs/compaction.md has no row for {rule}"
    _, lives_in, tested_in = rows()[rule]

    missing = [name for name in (*named(lives_in), *named(tested_in)) if not is_there(name)]
    assert named(lives_in), f"{rule} lives nowhere"
    assert not missing, f"{rule}: {missing}"
    is_named = re.compile(rf"def test_(?:[a-l]\d?_)*{rule.lower()}_")
    assert any(is_named.search(source) for source in sources(named(tested_in))), f"no test named there says {rule}"


def test_no_row_names_a_file_that_is_not_there() -> None:
    told = [(rule, name) for rule, cells in rows().items() for cell in cells[1:] for name in named(cell)]

    assert [(rule, name) for rule, name in told if not is_there(name) and not name.startswith("make ")] == []
