"""Where things are: URLs, e-mail addresses, hosts, IP addresses, paths and names of files (rule H1)."""

from __future__ import annotations

import ipaddress
import re

from compaction.exact import words
from compaction.exact.kinds import END, LATIN, START, Finder, Hit, Kind, all_of

ENDINGS = words.every(words.FILE_ENDINGS)
DOMAINS = words.every(words.DOMAINS)
NO_FILES = frozenset({"node.js", "vue.js", "next.js", "nuxt.js", "d3.js", "three.js", "express.js"})
# "Shopware 6.5.8.2": four small numbers behind a name are a version.
VERSION_BEFORE = re.compile(rf"(?:(?i:version)|{START}(?!Server|Host|Addres|IP|Router)[A-Z][A-Za-z]{{2,19}}) $")
HIGH = re.compile(r"[0-9]{3}")
TRAILING = ".,;:!?'*_-"

URL = (
    rf"(?<![{LATIN}+.-])(?:[A-Za-z][A-Za-z0-9+.-]{{1,15}}://|www\.)"
    r"[^\s<>\"`|\\^{}\x00-\x1f\u2018-\u201f\u2026\u3000-\u30ff\u3400-\u9fff\uff00-\uffef«»]{3,2000}"
)
EMAIL = r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}+\.){1,8}[A-Za-z]{2,24}"
DOTTED = (
    rf"(?<![{LATIN}./@\\-])[{LATIN}][{LATIN}+-]{{0,80}}+(?:\.[{LATIN}+-]{{1,80}}+){{1,8}}+"
    r"(?P<port>:[0-9]{2,5}(?![0-9]))?(?P<path>/[!#-;=?-_a-z~]{0,500}+)?"
)
FILE_IN_ANY_SCRIPT = rf"(?<![^\s\"'“„「『«(])[\w+-]{{1,60}}+\.(?:{words.either(words.FILE_ENDINGS)}){END}"
NUMBERED_HOST = (
    rf"(?<![{LATIN}.-])(?:localhost(?::[0-9]{{2,5}})?|(?:prod|staging|stage|dev|test|db|web|app|api|srv|server|node|"
    rf"worker|cache|mail|gw|proxy|vpn|nas|pg|mx|ns|backup)(?:-[a-z]{{1,12}}){{0,3}}-?[0-9]{{1,3}}){END}(?![.-][{LATIN}])"
)
WINDOWS_PATH = (
    rf"{START}(?:[A-Za-z]:|\\\\[{LATIN}.-]{{1,60}})\\(?:[^\\/:*?\"<>|\r\n\x00]{{1,80}}\\){{0,20}}"
    rf"[{LATIN}.$%+~-]{{1,80}}"
)
SLASHED = rf"(?<![{LATIN}/.~@<-])(?:~|[{LATIN}.@-]{{1,80}}+)?(?:/[{LATIN}.@%+=~*-]{{1,100}}+){{1,25}}+/?"
IP = (
    rf"(?<![{LATIN}.:])(?:(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?::[0-9]{{2,5}})?|(?=[0-9a-fA-F]{{0,4}}:)[0-9a-fA-F:]{{3,39}}+)"
    rf"(?:/[0-9]{{1,3}})?(?![{LATIN}]|\.[0-9])"
)


def _trimmed(kind: Kind, match: re.Match[str]) -> Hit:
    """Without the marks of the sentence behind it, and without a bracket that was opened before it."""
    text = match[0].rstrip(TRAILING)
    while text.endswith((")", "]")) and text.count(text[-1]) > text.count("(" if text[-1] == ")" else "["):
        text = text[:-1].rstrip(TRAILING)
    return Hit(kind, match.start(), match.start() + len(text))


def _dotted(match: re.Match[str]) -> Hit | None:
    hit = _trimmed(Kind.HOST, match)
    text = match.string[hit.start : hit.end]
    name = text.partition("/")[0].partition(":")[0]
    last = name.rpartition(".")[2]
    if text == name and last.casefold() in ENDINGS:
        return None if name.casefold() in NO_FILES else Hit(Kind.PATH, hit.start, hit.end)
    # "the end.It was": no domain begins with a capital.
    if last not in DOMAINS or not name.isascii():
        return None
    return Hit(Kind.URL, hit.start, hit.end) if "/" in text else hit


def _named_in_another_script(match: re.Match[str]) -> Hit | None:
    return None if match[0].isascii() else Hit(Kind.PATH, match.start(), match.end())


def _slashed(match: re.Match[str]) -> Hit | None:
    """From the root, from home or from here; or several folders with a file that has an ending."""
    hit = _trimmed(Kind.PATH, match)
    text = match.string[hit.start : hit.end]
    parts = [part for part in text.split("/") if part]
    is_rooted = text.startswith(("/", "~/", "./", "../"))
    has_ending = len(parts) > 1 and parts[-1].rpartition(".")[2].casefold() in ENDINGS
    is_long = len(text) > 2 and any(character.isalpha() for character in text)
    return hit if is_long and (is_rooted or has_ending) else None


def _ip(match: re.Match[str]) -> Hit | None:
    text = match[0].rstrip(":")
    if VERSION_BEFORE.search(match.string[max(0, match.start() - 24) : match.start()]) and not HIGH.search(text):
        return None
    try:
        ipaddress.ip_interface(text.partition(":")[0] if "." in text else text)
    except ValueError:
        return None
    return Hit(Kind.IP, match.start(), match.start() + len(text)) if any(map(str.isdigit, text)) else None


ADDRESS_FINDERS = (
    Finder(re.compile(URL), lambda match: _trimmed(Kind.URL, match)),
    all_of(Kind.EMAIL, EMAIL),
    Finder(re.compile(IP), _ip),
)
PATH_FINDERS = (
    Finder(re.compile(DOTTED), _dotted),
    Finder(re.compile(WINDOWS_PATH), lambda match: _trimmed(Kind.PATH, match)),
    Finder(re.compile(SLASHED), _slashed),
    Finder(re.compile(FILE_IN_ANY_SCRIPT), _named_in_another_script),
    all_of(Kind.HOST, NUMBERED_HOST),
)
