"""Amounts: a number with its currency or unit, in the ways that several countries write both (rule H1)."""

from __future__ import annotations

from compaction.exact.kinds import END, LATIN, Kind, all_of

SPACE = "[ \u00a0\u2009\u202f]"
# "48,250.00", "48.250,00", "48 250", "48'250"; Indian lakhs and plain digits by the second way.
NUMBER = rf"(?:[0-9]{{1,2}}(?:,[0-9]{{2}}){{1,4}},[0-9]{{3}}(?![0-9])|[0-9]{{1,3}}(?:[.,'’ \u00a0\u2009\u202f][0-9]{{3}}){{1,6}}+(?![0-9])(?:[.,][0-9]{{1,6}}+)?|[0-9]{{1,15}}+(?:[.,][0-9]{{1,6}}+)?)"
SIGNED = rf"(?:(?<![^\s(（])[-−+±])?{NUMBER}"
RANGE = rf"(?:{SPACE}?(?:[-–—~～〜×x/]|to|bis|à|and|or|oder|und|ou|et){SPACE}?{NUMBER})?"
CURRENCIES = (
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|KRW|SGD|HKD|TWD|MXN|ZAR|TRY|ILS|RUB|UAH|"
    r"US\$|CA\$|C\$|AU\$|A\$|NZ\$|HK\$|NT\$|S\$|R\$|Fr\.|Rs\.?|[€$£¥₹₩₽₺₴]"
)
MAGNITUDES = (
    "million|billion|trillion|thousand|hundred|dozen|Millionen|Milliarden|Million|Milliarde|Tausend|tausend|Mio\\.?|Mrd\\.?|"
    "Tsd\\.?|millions?|milliards?|mille|bn|mn|万|萬|億|亿|千|百"
)
UNITS = (
    # Time
    "milliseconds?|seconds?|minutes?|hours?|min|s|h|days?|weeks?|months?|years?|nights?|secs?|mins?|hrs?|ms|µs|"
    "Millisekunden|Sekunden?|Minuten?|Stunden?|Tagen?|Tage|Wochen?|Monaten?|Monate?|Jahren?|Jahre?|Nächten?|Nächte|Std\\.?|Min\\.?|Sek\\.?|"
    "secondes?|heures?|jours?|semaines?|mois|années?|ans?|nuits?|nuitées|"
    # Money in words
    "euros?|dollars?|pounds?|francs?|cents?|pence|yen|yuan|reais|reales|Euro|Franken|Rappen|Dollar|centimes|"
    # Data, rates, screens
    "[KMGTP]i?B(?:/s|ps)?|[KMGT]i|[kKMGT]bit(?:/s)?|[kMG]bps|bytes?|bits?|octets|[KMGT]o|tokens?|requests?|rps|qps|req/s|px|dpi|fps|"
    "[kMG]?Hz|v?CPUs?|vcores?|cores?|threads?|threads|Kerne|"
    # Weight, volume, length, area, heat, power, body
    "kg|mg|µg|mcg|g|lbs?|oz|tonnes?|tons?|Tonnen?|Gramm|grammes?|Kilo|kilos?|ml|cl|dl|l|L|litres?|liters?|Liter|gallons?|"
    "km/h|mph|m/s|km|cm|mm|nm|m²|m2|qm|m³|m3|m|miles?|ft|feet|inch(?:es)?|in\\.|sq ft|square (?:feet|met(?:er|re)s)|Quadratmetern?|mètres carrés|Metern?|mètres?|metres?|meters?|hectares?|ha|acres?|sqm|"
    "°[CF]?|degrees?|Grad|degrés?|kWh|MWh|kW|MW|W|V|mAh|Ah|A|kPa|bar|hPa|kcal|cal|kJ|dB|ppm|IU|IE|mmol/l|mg/dl|mg/l|mmHg|bpm|"
    "%|‰|percent|per cent|Prozent|pour cent|points?|bps|x|×|"
    # What is counted, in programs, shops, travel, kitchens, offices
    "rows?|records?|lines?|files?|tables?|columns?|users?|customers?|orders?|products?|items?|articles?|pages?|messages?|emails?|calls?|"
    "replicas?|pods?|nodes?|servers?|shards?|workers?|instances?|connections?|retries|attempts|copies|seats?|licen[cs]es|"
    "people|persons?|guests?|adults?|children|kids|passengers?|employees|participants|students|patients|bags?|boxes|pieces|units?|"
    "servings?|portions?|eggs?|cups?|tbsp|tsp|tablespoons?|teaspoons?|cloves?|slices?|tablets?|pills?|drops?|doses?|capsules?|puffs|"
    "Zeilen|Datensätze|Dateien|Kunden|Bestellungen|Produkte|Artikel|Seiten|Personen|Gäste|Erwachsene|Kinder|Mitarbeitende|Mitarbeiter|"
    "Stück|Stk\\.?|Portionen|Eier|EL|TL|Prise|Tabletten?|Tropfen|Plätze|Zimmer|Lizenzen|Teilnehmer|Kartons|Paletten|Nutzer|Nachrichten|Anfragen|Kilometern?|"
    "lignes|fichiers|clients|commandes|produits|personnes|adultes|enfants|invités|salariés|œufs|oeufs|cuillères?|comprimés?|gouttes|"
    "gélules?|places|pièces|exemplaires|cartons|palettes|étages|convives|kilomètres|messages"
)
EASTERN_UNITS = (
    "日元|人民币|欧元|美元|美金|港币|台币|块钱|块|元|円|ユーロ|ドル|圆|"
    "毫秒|秒钟|秒|分钟|分間|小时|時間|个小时|分|天|日間|日|周|週間|个月|か月|ヶ月|カ月|ヵ月|年間|年|晚|泊|"
    "公里|千米|米|厘米|毫米|公斤|千克|毫克|毫升|升|克|斤|平方米|平米|坪|度|キロ|グラム|リットル|メートル|センチ|ミリ|"
    "个人|个|箇|個|人|名|位|件|条|行|台|本|枚|冊|册|张|張|份|次|回|遍|片|粒|颗|匹|头|杯|盒|箱|袋|瓶|包|套|间|間|部|篇|倍|"
    "席|品|皿|カロリー|錠|滴|カプセル|歳|岁|階建て|℃|％"
)
CHINESE = "〇零一二三四五六七八九十百千万億亿兆两"

SCALED = rf"(?:[ \u00a0-]?(?:{MAGNITUDES})(?![a-zß-öø-ÿ]))"
BEFORE = rf"(?<![{LATIN}])(?<![0-9][.,'’])"
AMOUNTS = (
    # R$ 12,29 · € 48.250 · CHF 1'250.00 · ¥3万 · US$ 1.2 million
    rf"(?<![{LATIN}])[-−+]?(?:{CURRENCIES}){SPACE}?{NUMBER}(?:{SPACE}?[-–]{SPACE}?{NUMBER})?(?![0-9]){SCALED}?(?:[kKmM]{END}|\.[–-])?"
    rf"(?:[ \u00a0]?(?:{CURRENCIES}){END})?",
    # 48,250 EUR · 20 minutes · 1.2 million rows · 10–15 % · 48k · 3万5千円
    rf"{BEFORE}{SIGNED}{RANGE}(?![0-9])(?:[kM]{END})?(?:{SCALED}(?:[0-9]{{1,4}}(?:,[0-9]{{3}})?(?:{MAGNITUDES})?)?)?"
    rf"(?:[ \u00a0\u2009\u202f-]?(?:(?:d['’]|de )?(?:{CURRENCIES}|{UNITS})(?![{LATIN}'’])|{EASTERN_UNITS})"
    rf"(?:/(?:kg|l|h|s|min|day|month|year|user|Tag|Monat|Jahr|mois|an|jour|m²|月|年|天|人|日){END})?"
    rf"|(?<=[kM万萬億亿千百])|(?<=ion)|(?<=ions)|(?<=ionen)|(?<=Mio\.)|(?<=Mrd\.)|(?<=liards)|(?<=thousand)|(?<=dozen))",
    # 三万元, 大さじ2, 小さじ1/2
    rf"(?<![{CHINESE}0-9])[{CHINESE}]{{1,12}}(?:元|円|块钱|欧元|美元|日元|人民币|ユーロ|ドル)",
    r"(?:大さじ|小さじ|カップ)[0-9](?:[0-9.]|/[0-9])?",
)
FINDERS = tuple(all_of(Kind.AMOUNT, pattern) for pattern in AMOUNTS)
