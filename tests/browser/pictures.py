"""Pictures of the page for somebody to look at: wide and on a phone, in the light and in the dark."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize

FOLDER = Path(__file__).resolve().parents[2] / "test-artifacts"
SIZES = {"wide": ViewportSize(width=1280, height=820), "phone": ViewportSize(width=390, height=780)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def take_pictures(page: Page, name: str) -> None:
    """Four pictures; the page is afterwards wide and light again."""
    FOLDER.mkdir(exist_ok=True)
    for size in ("phone", "wide"):
        page.set_viewport_size(SIZES[size])
        for scheme in reversed(SCHEMES):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=FOLDER / f"{name}-{size}-{scheme}.png")
