"""Amounts: a number with its currency or unit, in the ways that several countries write both (rule H1)."""

from __future__ import annotations

from compaction.exact import words
from compaction.exact.kinds import END, LATIN, Kind, all_of

SPACE = "[ \u00a0\u2009\u202f]"
# "₹1,25,000", then "48,250.00", "48.250,00", "48 250", "48'250", then plain digits.
NUMBER = (
    r"(?:[0-9]{1,2}(?:,[0-9]{2}){1,4},[0-9]{3}(?![0-9])"
    r"|[0-9]{1,3}(?:[.,'’ \u00a0\u2009\u202f][0-9]{3}){1,6}+(?![0-9])(?:[.,][0-9]{1,6}+)?"
    r"|[0-9]{1,15}+(?:[.,][0-9]{1,6}+)?)"
)
SIGNED = rf"(?:(?<![^\s(（])[-−+±])?{NUMBER}"
RANGE = rf"(?:{SPACE}?(?:[-–—~～〜×x/]|to|bis|à|and|or|oder|und|ou|et){SPACE}?{NUMBER})?"
CURRENCIES, MAGNITUDES = words.either(words.CURRENCIES), words.either(words.MAGNITUDES)
UNITS, EASTERN_UNITS = words.either(words.UNITS), words.either(words.EASTERN_UNITS)
CHINESE = "〇零一二三四五六七八九十百千万億亿兆两"

SCALED = rf"(?:[ \u00a0-]?(?:{MAGNITUDES})(?![a-zß-öø-ÿ]))"
BEFORE = rf"(?<![{LATIN}])(?<![0-9][.,'’])"
MONEY_FIRST = (  # R$ 12,29 · € 48.250 · CHF 1'250.00 · ¥3万 · US$ 1.2 million
    rf"(?<![{LATIN}])[-−+]?(?:{CURRENCIES}){SPACE}?{NUMBER}(?:{SPACE}?[-–]{SPACE}?{NUMBER})?(?![0-9])"
    rf"{SCALED}?(?:[kKmM]{END}|\.[–-])?(?:[ \u00a0]?(?:{CURRENCIES}){END})?"
)
RATE = rf"(?:/(?:kg|l|h|s|min|day|month|year|user|Tag|Monat|Jahr|mois|an|jour|m²|月|年|天|人|日){END})?"
UNIT_BEHIND = (  # 48,250 EUR · 20 minutes · 1.2 million rows · 10–15 % · 48k · 3万5千円
    rf"{BEFORE}{SIGNED}{RANGE}(?![0-9])(?:[kM]{END})?(?:{SCALED}(?:[0-9]{{1,4}}(?:,[0-9]{{3}})?(?:{MAGNITUDES})?)?)?"
    rf"(?:[ \u00a0\u2009\u202f-]?(?:(?:d['’]|de )?(?:{CURRENCIES}|{UNITS})(?![{LATIN}'’])|{EASTERN_UNITS}){RATE}"
    # No unit, and a magnitude already read: "1.2 million", "48k", "3万".
    rf"|(?<=[kM万萬億亿千百])|(?<=ion)|(?<=ions)|(?<=ionen)|(?<=Mio\.)|(?<=Mrd\.)|(?<=liards)|(?<=thousand)|(?<=dozen))"
)
IN_CHARACTERS = rf"(?<![{CHINESE}0-9])[{CHINESE}]{{1,12}}(?:元|円|块钱|欧元|美元|日元|人民币|ユーロ|ドル)"
SPOONS = r"(?:大さじ|小さじ|カップ)[0-9](?:[0-9.]|/[0-9])?"

FINDERS = tuple(all_of(Kind.AMOUNT, pattern) for pattern in (MONEY_FIRST, UNIT_BEHIND, IN_CHARACTERS, SPOONS))
