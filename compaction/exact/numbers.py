"""Numbers that mean something without a unit, "port 5432", "Zimmer 14", "302室", and phone numbers (rule H1)."""

from __future__ import annotations

import re

from compaction.exact import words
from compaction.exact.amounts import NUMBER
from compaction.exact.kinds import END, LATIN, START, Finder, Hit, Kind, all_of

LABELS = words.every(words.LABELS)
EASTERN_LABELS = words.either(words.EASTERN_LABELS)
LINK = (
    r"(?:[ \u00a0:=#№°.“\"(]|(?i:is|are|was|now|number|no|nr|to|at|of|from|ist|lautet|auf|von|est|le|la|de|du|numéro|n)"
    rf"(?![{LATIN}])"
    r"|是|为|改为|改成|は|が|を|到|：){0,6}+"
)
LABELLED = re.compile(
    rf"(?:{START}(?P<subject>[A-Za-zÀ-ÖØ-öø-ɏ][A-Za-zÀ-ÖØ-öø-ɏ°º]{{0,19}}+|[№§])|(?P<eastern>{EASTERN_LABELS})){LINK}"
    rf"(?P<value>[A-Z]{{0,2}}-?[0-9]{{1,6}}(?:[.-][0-9]{{1,4}}){{0,3}}[A-Za-z]?)(?![{LATIN}]|[.,:/][0-9]|[ ]?[%€$])"
)
ASSIGNED = re.compile(
    rf"(?<![{LATIN}.])(?P<subject>[A-Za-zÀ-ÖØ-öø-ɏ][{LATIN}.-]{{1,40}}+)[ ]?[:=][ ]?(?P<value>-?{NUMBER})"
    rf"(?![{LATIN}]|[.,:/][0-9])"
)
# 302室, 14号室, 3番線, 12階, 第8条, 5楼, G7次
SUFFIXED = (
    r"第 ?(?:[0-9]{1,5}|[〇一二三四五六七八九十百]{1,5}) ?[条条項项章节節页頁回期版巻卷号楼]|(?<![0-9.,])[0-9]{1,5} ?"
    r"(?:号登机口|号门|号室|号楼|号线|号線|号館|号店|号车|号車|号|番線|番地|番窓口|番出口|番ゲート|番|丁目|階|层|楼|室|页|頁|ページ)"
    r"|(?<![0-9.,])[0-9]{1,3}(?:\. (?:Stock|Etage|OG|Obergeschoss|Reihe|Klasse)|(?:st|nd|rd|th) floor|e étage|er étage)"
    rf"|(?<![{LATIN}])[GDCKTZ][0-9]{{1,4}}次|(?:のぞみ|ひかり|こだま|はやぶさ|かがやき|特急)[0-9]{{1,3}}号"
)
BARE = re.compile(rf"(?<![{LATIN}.,:/#+-])(?P<value>{NUMBER})(?![{LATIN}]|[.,:/-][0-9])")
LIST_MARKER = re.compile(r"[.)、]?\s|[.)、]")
WORD = re.compile(r"[^\W\d_]{3,30}|[\u3040-\u30ff\u3400-\u9fff]{2,6}")
NO_SUBJECTS = words.every(words.NO_SUBJECTS)

PHONE = (
    # +49 30 901820, +33 (0)1 42 68 53 00, 0041 …
    rf"(?<![{LATIN}+/.-])(?:\+|00)[1-9][0-9]{{0,2}}(?:[ \u00a0./-]?(?:\([0-9]{{1,4}}\)|[0-9]{{1,5}})){{2,7}}{END}"
    r"(?![.,-][0-9])"
    # (415) 555-0132, 415-555-0132, 01 42 68 53 00, 030 12345678, 03-1234-5678, 138 0013 8000
    rf"|(?<![{LATIN}+/.-])(?:\([0-9]{{2,5}}\)[ ]?[0-9]{{2,4}}(?:[ -]?[0-9]{{2,4}}){{1,3}}"
    r"|[2-9][0-9]{2}[-.][0-9]{3}[-.][0-9]{4}"
    r"|0[1-9](?:[ .\u00a0][0-9]{2}){4}|0[1-9][0-9]{0,4}[ /-][0-9]{3,8}(?:[ -][0-9]{2,5}){0,3}"
    r"|1[3-9][0-9](?:[ -]?[0-9]{4}){2})"
    rf"{END}(?![.,/-][0-9])"
    r"|(?i:(?:tel|phone|call|mobile|handy|telefon|tél|fax|durchwahl|ext|extension|poste)\.?|电话|電話|手机|携帯)"
    r"[ :.：]{0,3}"
    rf"(?P<value>\(?[0-9]{{2,5}}\)?(?:[ /.-]?[0-9]{{2,5}}){{0,4}}){END}(?![.,/-][0-9])"
)


def _labelled(match: re.Match[str]) -> Hit | None:
    subject = match["subject"] or match["eastern"]
    if match["subject"] and subject.casefold() not in LABELS:
        return None
    return Hit(Kind.NUMBER, match.start("value"), match.end("value"), subject)


def _assigned(match: re.Match[str]) -> Hit:
    return Hit(Kind.NUMBER, match.start("value"), match.end("value"), match["subject"])


def _bare(match: re.Match[str]) -> Hit | None:
    """At least two digits, no list marker, and a word near by that says what it is."""
    text, start, end = match.string, match.start("value"), match.end("value")
    if end - start < 2:
        return None
    line = text[max(0, start - 6) : start].rpartition("\n")[2]
    if not line.strip(" *#>") and (start < 6 or "\n" in text[start - 6 : start]) and LIST_MARKER.match(text, end):
        return None
    return Hit(Kind.NUMBER, start, end, _subject(text, start, end))


def _subject(text: str, start: int, end: int) -> str:
    """The next word behind the number where one follows at once, else the last one before it."""
    after = WORD.match(text, end + 1) if text[end : end + 1] in (" ", "\u00a0") else None
    if after and after[0].casefold() not in NO_SUBJECTS:
        return after[0]
    before = [word for word in WORD.findall(text[max(0, start - 40) : start]) if word.casefold() not in NO_SUBJECTS]
    return before[-1] if before else ""


def _phone(match: re.Match[str]) -> Hit | None:
    group = "value" if match["value"] else 0
    digits = sum(map(str.isdigit, match[group]))
    return Hit(Kind.PHONE, match.start(group), match.end(group)) if (3 if group else 7) <= digits <= 16 else None


PHONE_FINDER = Finder(re.compile(PHONE), _phone)
LABELLED_FINDERS = (all_of(Kind.NUMBER, SUFFIXED), Finder(LABELLED, _labelled), Finder(ASSIGNED, _assigned))
BARE_FINDER = Finder(BARE, _bare)
