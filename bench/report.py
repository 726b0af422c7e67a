"""One page of a run's results, without script or network: `python -m bench.report results.json > report.html`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pygal
from django.template import Context, Engine
from pygal.style import Style

from bench.table import number
from tests.live import ROOT

BAR, AROUND, WIDTH = 34, 56, 760
TEMPLATE = Engine(dirs=[str(ROOT / "bench")]).get_template("report.html")
STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground="var(--ink-2)",
    foreground_strong="var(--ink)",
    foreground_subtle="var(--line)",
    guide_stroke_color="var(--line)",
    major_guide_stroke_color="var(--line)",
    guide_stroke_dasharray="none",
    major_guide_stroke_dasharray="none",
    colors=("var(--accent)",),
    value_colors=("var(--ink)",),
    ci_colors=("var(--amber)",),
    font_family="inherit",
    label_font_size=13,
    major_label_font_size=13,
    opacity="0.55",
    opacity_hover="0.55",
    transition="0s",
)


def page(told: dict[str, Any]) -> str:
    """`told`: what results.json holds."""
    sections = [
        {"title": section["title"], **_table(section["lines"]), "charts": list(_charts(section["lines"]))}
        for section in told["sections"]
    ]
    facts = {
        "Foldline": told["commit"],
        "measured": f"{_moment(told['began'])} to {_moment(told['ended'])} (UTC)",
        "machine": told["machine"],
        "load before and after": f"{_load(told['load_before'])} / {_load(told['load_after'])}",
        "system": told["system"],
        "with": ", ".join(f"{name} {version}" for name, version in told["versions"].items()),
    }
    colours = (ROOT / "static" / "css" / "tokens.css").read_text()
    context = {"facts": facts, "is_quick": told["is_quick"], "sections": sections, "colours": colours}
    return TEMPLATE.render(Context(context, use_tz=False))


def _moment(iso: str) -> str:
    return f"{datetime.fromisoformat(iso):%Y-%m-%d %H:%M}"


def _load(load: Sequence[float]) -> str:
    return f"{load[0]:.1f}"


def _table(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was measured downwards; the products, where there are several, across."""
    products = list(dict.fromkeys(line["of"] for line in lines if "of" in line))
    cells: dict[str, dict[str, Any]] = {}
    for line in lines:
        cells.setdefault(line["what"], {})[line.get("of", "")] = line
    columns = products or [""]
    rows = [{"what": what, "cells": [of.get(name, {}) for name in columns]} for what, of in cells.items()]
    return {"products": products, "rows": rows}


def _charts(lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One for what several products do in the same way; else one for each unit of a section."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        if "samples" in line:
            groups.setdefault((line["what"] if "of" in line else "", line["unit"]), []).append(line)
    for (what, unit), group in groups.items():
        if len(group) > 1:
            yield {"title": f"{what}, {unit}" if what else unit, "svg": _bars(group)}


def _bars(lines: Sequence[dict[str, Any]]) -> str:
    """Medians as bars, the 5th to the 95th percentile as a line over each; the first one on top, as in the table."""
    chart = pygal.HorizontalBar(
        style=STYLE,
        js=(),
        width=WIDTH,
        height=AROUND + BAR * len(lines),
        margin=4,
        show_legend=False,
        show_x_guides=False,
        show_y_guides=True,
        max_scale=6,
        truncate_label=-1,
        disable_xml_declaration=True,
        formatter=number,
    )
    shown = list(reversed(lines))
    chart.x_labels = [f"{line.get('of') or line['what']}  {number(line['median'])} {line['unit']}" for line in shown]
    bars = [{"value": line["median"], "ci": {"low": line["p5"], "high": line["p95"]}} for line in shown]
    chart.add("", bars)
    chart.add_xml_filter(_without_script)
    return chart.render(is_unicode=True)


def _without_script(root: Element) -> Element:
    """Even without its scripts pygal writes their settings as one."""
    for parent in root.iter():
        for child in [child for child in parent if str(child.tag).endswith("script")]:
            parent.remove(child)
    return root


if __name__ == "__main__":
    sys.stdout.write(page(json.loads(Path(sys.argv[1]).read_text())))
