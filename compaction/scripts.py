"""Which script a text is written in: for the language of a summary (rules E5, F)."""

from __future__ import annotations

import re

# Chinese and Japanese share their characters, so they count as one here; kana alone tells them apart.
SCRIPTS = {
    "Latin": re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]+"),
    "Han": re.compile(
        r"[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
    ),
    "Hangul": re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]+"),
    "Cyrillic": re.compile(r"[\u0400-\u052f]+"),
    "Greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]+"),
    "Arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc]+"),
    "Hebrew": re.compile(r"[\u0590-\u05ff\ufb1d-\ufb4f]+"),
    "Devanagari": re.compile(r"[\u0900-\u097f]+"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]+"),
}
# A Chinese character or a Korean syllable says about as much as two or three Latin letters.
WEIGHTS = {"Han": 3, "Hangul": 2}
JAPANESE = re.compile(r"[\u3040-\u30ff]")
CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
LOOKED_AT = 200_000


def shares(text: str) -> dict[str, float]:
    """Share of each script in the letters of the prose; empty for a text without letters. Code blocks don't count."""
    prose = CODE_BLOCK.sub(" ", text[:LOOKED_AT])
    letters = {name: len("".join(kind.findall(prose))) * WEIGHTS.get(name, 1) for name, kind in SCRIPTS.items()}
    total = sum(letters.values())
    return {name: count / total for name, count in letters.items() if count}


def dominant(text: str, *, at_least: float = 0.6) -> str:
    """The script of most of the text, or "" where none reaches that share."""
    found = shares(text)
    name = max(found, key=lambda script: found[script], default="")
    return name if found.get(name, 0.0) >= at_least else ""


def language_hint(text: str) -> str:
    """A sentence for the summariser; it names a script other than Latin, since small models fall into English."""
    script = dominant(text, at_least=0.5)
    if script == "Han":
        script = "Japanese" if len(JAPANESE.findall(text[:LOOKED_AT])) * 10 > len(text[:LOOKED_AT]) else "Chinese"
    if script in ("", "Latin"):
        return "Write in the language of the conversation."
    return f"Write in the language of the conversation, in {script} script."
