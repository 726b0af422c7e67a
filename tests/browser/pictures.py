"""Pictures of the page for somebody to look at, in test-artifacts/; taken only where PICTURES=1 asks for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize

FOLDER = Path(__file__).resolve().parents[2] / "test-artifacts"
SIZES = {"wide": ViewportSize(width=1280, height=820), "phone": ViewportSize(width=390, height=780)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def take_picture(page: Page, name: str) -> None:
    """One, of the page as it is."""
    if os.environ.get("PICTURES") == "1":
        page.screenshot(path=FOLDER / f"{name}.png")


def take_pictures(page: Page, name: str) -> None:
    """Four: wide and on a phone, in the light and in the dark; the page is afterwards wide and light again."""
    if os.environ.get("PICTURES") != "1":
        return
    for size in ("phone", "wide"):
        page.set_viewport_size(SIZES[size])
        for scheme in reversed(SCHEMES):
            page.emulate_media(color_scheme=scheme)
            take_picture(page, f"{name}-{size}-{scheme}")
