"""Numbers that mean something without a unit, "port 5432", "Zimmer 14", "302室", and phone numbers (rule H1)."""

from __future__ import annotations

import re

from compaction.exact.amounts import NUMBER
from compaction.exact.kinds import END, LATIN, Finder, Hit, Kind, all_of

LABELS = (
    "port|room|gate|seat|platform|track|bus|tram|line|flight|train|table|row|page|chapter|section|article|paragraph|floor|flat|"
    "apartment|door|box|locker|pin|code|batch|lot|size|exit|building|suite|unit|level|lane|bay|shelf|channel|week|"
    "uid|gid|pid|exit code|exit status|status|http|error|limit|timeout|port range|route|question|clause|appendix|step|zone|terminal|carriage|"
    "zimmer|raum|saal|gleis|hausnummer|nummer|seite|artikel|absatz|paragraf|ziffer|stock|stockwerk|etage|tisch|linie|größe|konto|"
    "platz|wagen|halle|tor|fach|kapitel|flug|zug|station|blz|plz|steuerklasse|anlage|zeile|spalte|"
    "chambre|salle|quai|voie|article|étage|table|ligne|porte|bureau|bâtiment|immeuble|siège|voiture|vol|taille|casier|code postal|"
    "art|abs|nr|no|n°|nº|№|§|ice|tgv|ic|rer|formulaire|cerfa|form|case"
)
EASTERN_LABELS = (
    "端口|房间|房号|座位|航班|车次|编号|密码|验证码|尺码|ポート|部屋|会議室|座席|便名|番号|暗証番号|サイズ|内線|分机|"
    "登机口|搭乗口|窗口|限制|上限|下限|阈值|しきい値|超时|タイムアウト"
)
LINK = (
    rf"(?:[ \u00a0:=#№°.“\"(]|(?i:is|are|was|now|number|no|nr|to|at|of|from|ist|lautet|auf|von|est|le|la|de|du|numéro|n)(?![{LATIN}])"
    r"|是|为|改为|改成|は|が|を|到|：){0,6}+"
)
LABELLED = re.compile(
    rf"(?<![{LATIN}])(?P<subject>(?i:{LABELS})|(?<![^\W{LATIN}])(?:{LABELS})|{EASTERN_LABELS}){LINK}"
    rf"(?P<value>[A-Z]{{0,2}}-?[0-9]{{1,6}}(?:[.-][0-9]{{1,4}}){{0,3}}[A-Za-z]?)(?![{LATIN}]|[.,:/][0-9]|[ ]?[%€$])"
)
ASSIGNED = re.compile(
    rf"(?<![{LATIN}.])(?P<subject>[A-Za-zÀ-ÖØ-öø-ɏ][{LATIN}.-]{{1,40}}+)[ ]?[:=][ ]?(?P<value>-?{NUMBER})(?![{LATIN}]|[.,:/][0-9])"
)
# 302室, 14号室, 3番線, 12階, 第8条, 5楼, G7次
SUFFIXED = (
    r"第 ?(?:[0-9]{1,5}|[〇一二三四五六七八九十百]{1,5}) ?[条条項项章节節页頁回期版巻卷号楼]|(?<![0-9.,])[0-9]{1,5} ?"
    r"(?:号登机口|号门|号室|号楼|号线|号線|号館|号店|号车|号車|号|番線|番地|番窓口|番出口|番ゲート|番|丁目|階|层|楼|室|页|頁|ページ)"
    r"|(?<![0-9.,])[0-9]{1,3}(?:\. (?:Stock|Etage|OG|Obergeschoss|Reihe|Klasse|Auflage|Instanz)|(?:st|nd|rd|th) floor|e étage|er étage)"
    rf"|(?<![{LATIN}])[GDCKTZ][0-9]{{1,4}}次|(?:のぞみ|ひかり|こだま|はやぶさ|かがやき|特急)[0-9]{{1,3}}号"
)
BARE = re.compile(rf"(?<![{LATIN}.,:/#+-])(?P<value>{NUMBER})(?![{LATIN}]|[.,:/-][0-9])")
LIST_MARKER = re.compile(r"[.)、]?\s|[.)、]")
WORD = re.compile(r"[^\W\d_]{3,30}|[\u3040-\u30ff\u3400-\u9fff]{2,6}")
NO_SUBJECTS = frozenset(
    "the and are was were for from about around only over under than that this with have has had got get took take now not but you "
    "all our your their its can will may bis von mit und der die das den dem des ein eine sind ist war auf aus nur noch etwa rund "
    "les des une est sont avec pour dans par sur que qui environ plus top ist".split()
)

PHONE = (
    # +49 30 901820, +33 (0)1 42 68 53 00, 0041 …
    rf"(?<![{LATIN}+/.-])(?:\+|00)[1-9][0-9]{{0,2}}(?:[ \u00a0./-]?(?:\([0-9]{{1,4}}\)|[0-9]{{1,5}})){{2,7}}{END}(?![.,-][0-9])"
    # (415) 555-0132, 415-555-0132, 01 42 68 53 00, 030 12345678, 03-1234-5678, 138 0013 8000
    rf"|(?<![{LATIN}+/.-])(?:\([0-9]{{2,5}}\)[ ]?[0-9]{{2,4}}(?:[ -]?[0-9]{{2,4}}){{1,3}}|[2-9][0-9]{{2}}[-.][0-9]{{3}}[-.][0-9]{{4}}"
    r"|0[1-9](?:[ .\u00a0][0-9]{2}){4}|0[1-9][0-9]{0,4}[ /-][0-9]{3,8}(?:[ -][0-9]{2,5}){0,3}|1[3-9][0-9](?:[ -]?[0-9]{4}){2})"
    rf"{END}(?![.,/-][0-9])"
    r"|(?i:(?:tel|phone|call|mobile|handy|telefon|tél|fax|durchwahl|ext|extension|poste)\.?|电话|電話|手机|携帯)[ :.：]{0,3}"
    rf"(?P<value>\(?[0-9]{{2,5}}\)?(?:[ /.-]?[0-9]{{2,5}}){{0,4}}){END}(?![.,/-][0-9])"
)


def _labelled(match: re.Match[str]) -> Hit:
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
LABELLED_FINDERS = (Finder(LABELLED, _labelled), Finder(ASSIGNED, _labelled), all_of(Kind.NUMBER, SUFFIXED))
BARE_FINDER = Finder(BARE, _bare)
