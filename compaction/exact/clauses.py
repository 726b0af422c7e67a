"""The clause that gives a value its meaning: between two borders of the sentence, never cut through the value."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from compaction.exact import words

LONGEST = 120
# A full stop ends a sentence only before a space and no lower-case letter or digit: "z. B.", "am 3. Mai" go on.
SENTENCE = re.compile(
    r"\n|[。！？；!?](?:[”」』\"]|)\s{0,3}|;\s|(?<![0-9])\.\s{1,3}(?![a-z0-9])|(?<=[0-9])\.\s{1,3}(?=[A-Z“„«\"(*])"
)
ABBREVIATED = re.compile(rf"(?:^|[^A-Za-zÀ-ɏ])(?:{words.either(words.ABBREVIATIONS)})$")
PART = re.compile(r"[,、，:：]\s?|\s[–—-]\s|\s\(")
# Words that put one value in the place of another (rule H2).
CUES = re.compile(
    r"(?i:(?:(?m:^)|[.,;:!?–—-] ?)(?:no|nope|oops|sorry|wait|nein|non|pardon|désolée?)[,.: ]"
    r"|\b(?:actually|correction|instead of|rather than|changed (?:from|to)|change (?:it|that) to|moved (?:from|to)|"
    r"not \S{1,30},? but|postponed to|make (?:it|that)|should be|was wrong|my mistake|i meant|"
    r"doch nicht|sondern|statt|anstatt|korrektur|verschoben|verlegt|geändert (?:auf|von|in)|jetzt doch|ich meinte|"
    r"finalement|plutôt|au lieu d[eu]|je voulais dire|et non|reportée?|déplacée?|remplacée?)\b)"
    r"|不对|不是|改成|改为|改到|更正|应该是|而不是|说错|搞错|ではなく|じゃなくて|訂正|に変更|間違え|(?m:^)いや|やっぱり|正しくは"
)
MARKUP = " \t*_#>|•·-"


class Clauses:
    """The borders of one text, found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        ends = [found.end() for found in SENTENCE.finditer(text) if not self._is_abbreviated(found)]
        self.borders = [0, *ends, len(text)]
        self.cues = [found.start() for found in CUES.finditer(text)]

    def around(self, start: int, end: int) -> str:
        """The clause that holds text[start:end]; where it says nothing more, the sentence before it too."""
        first = bisect_right(self.borders, start) - 1
        last = bisect_left(self.borders, end)
        left, right = self.borders[first], self.borders[last]
        if first and not _says_more(self.text[left:start] + self.text[end:right]):
            left = self.borders[first - 1]
        return shortened(self.text, start, end, left=left, right=right)

    def corrects(self, start: int, end: int) -> bool:
        """Whether the sentence has words that put one thing in the place of another."""
        left = self.borders[bisect_right(self.borders, start) - 1]
        right = self.borders[bisect_left(self.borders, end)]
        at = bisect_left(self.cues, left)
        return at < len(self.cues) and self.cues[at] < right

    def _is_abbreviated(self, found: re.Match[str]) -> bool:
        before = self.text[max(0, found.start() - 8) : found.start()]
        return found[0].startswith(".") and ABBREVIATED.search(before) is not None


def _says_more(rest: str) -> bool:
    return sum(map(str.isalpha, rest[:LONGEST])) > 1


def shortened(text: str, start: int, end: int, *, left: int, right: int, longest: int = LONGEST) -> str:
    """What of text[left:right] lies around the value, in one line: cut between parts, else between words."""
    if right - left > longest:
        left, right = _narrowed(text, start, end, left, right, longest)
    before, value, after = text[left:start], text[start:end], text[end:right]
    before = " ".join(before.split()).lstrip(MARKUP) + (
        " " if before[-1:].isspace() and before.strip(MARKUP + "\n") else ""
    )
    after = (" " if after[:1].isspace() and after.strip() else "") + " ".join(after.split()).rstrip(
        MARKUP + ",、，:：;；"
    )
    return f"{before}{' '.join(value.split())}{after}".strip()


def _narrowed(text: str, start: int, end: int, left: int, right: int, longest: int) -> tuple[int, int]:
    room = max(0, longest - (end - start))
    near_left, near_right = max(left, start - room * 2 // 3), min(right, end + room // 3)
    if near_left > left:
        parts = [near_left + found.end() for found in PART.finditer(text[near_left:start])]
        near_left = parts[0] if parts else _at_word(text, near_left, start)
    if near_right < right:
        parts = [end + found.start() for found in PART.finditer(text[end:near_right])]
        near_right = parts[-1] if parts else _before_word(text, end, near_right)
    return near_left, near_right


def _at_word(text: str, left: int, start: int) -> int:
    space = text.find(" ", left, start)
    return left if space < 0 else space + 1


def _before_word(text: str, end: int, right: int) -> int:
    space = text.rfind(" ", end, right)
    return right if space < 0 else space
