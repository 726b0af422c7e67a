"""An exact value as a value, and its normal form, by which the same one said twice is known (rule H1)."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.exact.kinds import Kind, narrowed

Key = tuple[str, str]
SHORT_NUMBER = 4
IN_ANY_CASE = frozenset({Kind.EMAIL, Kind.HOST})


@dataclass(frozen=True, slots=True)
class Value:
    """`clause`: where it was said, in one line; `subject`: the word that says what a bare number is, "" if none does.

    `role`: "user" if ever the person's. `position`: of the last message that says it. `order`: among all, as first
    said. `corrected_to` and `instead_of`: what a later message put in its place, and what it took the place of, as far
    as the words of the later message show it.
    """

    kind: Kind
    text: str
    clause: str
    role: str
    position: int
    order: int = 0
    subject: str = ""
    corrected_to: str = ""
    instead_of: str = ""

    @property
    def needs_subject(self) -> bool:
        """Whether the text alone could be found by chance: "14", or the "8.3" of a version."""
        is_short = self.kind is Kind.NUMBER and sum(map(str.isdigit, self.text)) < SHORT_NUMBER
        is_dotless = self.kind is Kind.VERSION and self.text.count(".") < 2 and self.text[0].isdigit()
        return bool(self.subject) and (is_short or is_dotless)

    @property
    def key(self) -> tuple[str, str]:
        """Without spaces, in half width. A short number is another value under another subject."""
        text = "".join(narrowed(self.text).split())
        if self.kind in IN_ANY_CASE:
            text = text.casefold()
        return text, self.subject.casefold() if self.needs_subject else ""
