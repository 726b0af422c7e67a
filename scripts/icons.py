"""Draws static/icons/*.png from static/favicon.svg with Chromium: CHROMIUM=… .venv/bin/python scripts/icons.py

The pictures are committed; this is run again only when the drawing changes.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).resolve().parent.parent / "static"
GROUND = "#2c5558"
# Name, size in pixels, and whether the ground reaches the edges: systems cut such icons to shapes of their own.
ICONS = [
    ("icon-192", 192, False),
    ("icon-512", 512, False),
    ("icon-maskable-512", 512, True),
    ("apple-touch-icon", 180, True),
]


def page_of(drawing: str, *, fills: bool) -> str:
    """What must be seen of a cut icon lies in its inner 80 %."""
    ground, width = (GROUND, "80%") if fills else ("transparent", "100%")
    centred = "margin:0;height:100vh;display:grid;place-items:center"
    return f'<body style="background:{ground};{centred}"><div style="width:{width};line-height:0">{drawing}</div>'


def main() -> None:
    drawing = (STATIC / "favicon.svg").read_text()
    (STATIC / "icons").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        for name, size, fills in ICONS:
            page = browser.new_page(viewport={"width": size, "height": size})
            page.set_content(page_of(drawing, fills=fills))
            page.screenshot(path=STATIC / "icons" / f"{name}.png", omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
