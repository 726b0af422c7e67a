"""Dates and times as people write them in English, French, German, Chinese, Japanese and beside them (rule H1)."""

from __future__ import annotations

import re

from compaction.exact import words
from compaction.exact.kinds import END, LATIN, START, Finder, Hit, Kind, all_of

MONTHS = words.either(words.MONTHS)
YEAR = r"(?:19|20)[0-9]{2}"
DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
MONTH = r"(?:1[0-2]|0?[1-9])"
CLOCK = r"(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,6})?)?"
NO_DIGIT = rf"(?![{LATIN}]|[.,/:-]?[0-9])"
CHINESE = "〇零一二三四五六七八九十"

ISO = (
    rf"(?<![{LATIN}./-]){YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    rf"(?:T{CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?(?![0-9]|-[0-9])"
)
NUMERIC = (
    rf"(?<![{LATIN}./-])(?:{DAY}\.{MONTH}\.{YEAR}|[0-3][0-9]\.[01][0-9]\.[0-9]{{2}}|{DAY}/{MONTH}/(?:{YEAR}|[0-9]{{2}})"
    rf"|{MONTH}/{DAY}/(?:{YEAR}|[0-9]{{2}})|{YEAR}/{MONTH}/{DAY}|{YEAR}\.{MONTH}\.{DAY}){NO_DIGIT}"
)
DAY_AND_MONTH = rf"(?i:{START}(?:am|vom|bis|ab|zum|den|dem|seit|und|nach|vor|der) )(?P<value>{DAY}\.{MONTH}\.)(?![0-9])"
WORDED = (
    rf"{START}(?:(?:{DAY}(?:st|nd|rd|th|er|\.|º)?[ ]?(?:[-–]|to|bis|au|and|und|et)[ ]?)?{DAY}(?:st|nd|rd|th|er|\.|º)?"
    rf"[ \u00a0](?:of |de )?)(?:{MONTHS}){END}(?:,?[ \u00a0](?:de )?{YEAR}{END})?"
    rf"|{START}(?:{MONTHS}){END}[ \u00a0](?:{DAY}(?:st|nd|rd|th)?(?:[ ]?[-–][ ]?{DAY})?{NO_DIGIT}"
    rf"(?:,?[ \u00a0]{YEAR}{END})?"
    rf"|{YEAR}{NO_DIGIT})|{START}(?:Q[1-4]|H[12]|KW ?[0-9]{{1,2}}|T[1-4])[ /]{YEAR}{END}"
)
EASTERN = (
    rf"(?<![0-9])(?:(?:令和|平成|昭和)(?:[0-9]{{1,2}}|元)|[0-9]{{4}}|[{CHINESE}]{{4}}) ?年度?"
    rf"(?: ?[0-9]{{1,2}} ?月(?: ?[0-9]{{1,2}} ?[日号])?"
    rf"|[{CHINESE}]{{1,3}}月(?:[{CHINESE}]{{1,3}}[日号])?)?"
    rf"|(?<![0-9])[0-9]{{1,2}} ?月 ?[0-9]{{1,2}} ?[日号]|(?<![{CHINESE}])[{CHINESE}]{{1,3}}月[{CHINESE}]{{1,3}}[日号]"
)
# A bare year is read last, when nothing else wanted the number.
BARE_YEAR = (
    rf"(?i:{START}(?:in|since|from|by|until|after|before|for|of|année|en|depuis|dès|pour|ab|seit|jahr|bis|vor|nach) )"
    rf"(?P<value>{YEAR}(?:[/–-](?:{YEAR}|[0-9]{{2}}))?){NO_DIGIT}"
)
TIMES = (
    rf"(?<![{LATIN}.,:/-]){CLOCK}(?:(?i:[ \u00a0]?(?:[ap]m|[ap]\.m\.|uhr|h|utc|cet|cest|gmt|jst)){END})?"
    r"(?![0-9]|[:.][0-9])"
    rf"|(?<![{LATIN}.,:/-])(?:[01]?[0-9]|2[0-4])(?:[.:][0-5][0-9])?[ \u00a0]?(?i:[ap]m|[ap]\.m\.|uhr){END}"
    rf"(?:[ ][0-5][0-9]{NO_DIGIT})?"
    rf"|(?<![{LATIN}.,:/-])(?:[01]?[0-9]|2[0-4])[ \u00a0]?h(?:[ \u00a0]?[0-5][0-9]{END})"
    r"|(?:上午|下午|早上|晚上|中午|凌晨|傍晚|午前|午後|朝|夜)? ?"
    r"(?:(?<![0-9])(?:[01]?[0-9]|2[0-4]) ?[点點时時](?!间|間|候|代|期)"
    rf"|(?<=[午上晨晚朝夜])[{CHINESE}两]{{1,3}}[点點時])(?: ?[0-5]?[0-9] ?分|半|整|[一三]刻|[{CHINESE}]{{1,3}}分)?"
)


def _time(match: re.Match[str]) -> Hit:
    leading = len(match[0]) - len(match[0].lstrip())
    return Hit(Kind.TIME, match.start() + leading, match.end())


DATE_FINDERS = tuple(all_of(Kind.DATE, pattern) for pattern in (ISO, NUMERIC, DAY_AND_MONTH, WORDED, EASTERN))
YEAR_FINDER = all_of(Kind.DATE, BARE_YEAR)
TIME_FINDER = Finder(re.compile(TIMES), _time)
