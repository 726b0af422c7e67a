"""What a run of the bench leaves behind, from made-up figures: the JSON, and the page that needs nothing else."""

import json
import re

import pytest

from bench import machine, results
from bench.table import Line, Section, measured, timed

FACTS = machine.Facts("abc1234", "An abacus, 2 cores", "Debian 12, CPython 3.11.7", {"Django": "5.2"})
MILLISECONDS = [10.0, 11.0, 12.0, 13.0, 90.0]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, str]:
    seconds = [each / 1000 for each in MILLISECONDS]
    beside = (
        timed("Enter to the first <character>", seconds, "at once", of="Foldline"),
        timed("Enter to the first <character>", [0.2], of="Another"),
        Line("left out", "", "not installed", of="A third"),
    )
    start = (measured("start", [1.5, 1.7, 1.6], "s"), measured("later start", [1.2], "s"), Line("nodes", "1,421"))
    run = results.Run(is_quick=True, load_before=(0.5, 0.4, 0.3), facts=FACTS)
    run.sections += [Section("Start", start), Section("Side by side", beside)]
    kept = results.write(run, tmp_path_factory.mktemp("build") / "bench")
    return json.loads(kept.read_text()), results.draw(kept).read_text()


def test_json_holds_machine_load_date_and_samples(written: tuple[dict, str]) -> None:
    told, _ = written

    assert told["machine"] == "An abacus, 2 cores"
    assert told["versions"] == {"Django": "5.2"}
    assert told["load_before"] == [0.5, 0.4, 0.3]
    assert len(told["load_after"]) == 3
    assert told["began"] <= told["ended"]
    first = told["sections"][1]["lines"][0]
    assert first["samples"] == pytest.approx(MILLISECONDS)
    assert (first["median"], first["p5"], first["p95"]) == pytest.approx((12, 10, 90))
    assert first["figure"] == "12.0 ms (10.0–90.0)"


def test_page_shows_medians_and_spread_in_table_and_chart(written: tuple[dict, str]) -> None:
    _, page = written

    assert "<b>12.0 ms (10.0–90.0)</b>" in page
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == ["Foldline", "Another", "A third"]
    charts = re.findall(r"(?s)<svg.*?</svg>", page)
    assert len(charts) == 2, "one of the start, in seconds; one of what both products do"
    assert "Foldline  12.0 ms" in charts[1]
    assert "Another  200 ms" in charts[1]
    assert 'class="ci"' in charts[1]
    assert "quick run" in page


def test_page_needs_no_script_and_nothing_from_elsewhere(written: tuple[dict, str]) -> None:
    _, page = written

    assert "<script" not in page
    assert not re.findall(r"""(?i)(?:src|href)\s*=|url\(|@import""", page)
