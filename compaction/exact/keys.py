"""What things are called exactly: ids, hashes, ticket keys, versions, code, quoted names (rule H1)."""

from __future__ import annotations

import re

from compaction.exact import words
from compaction.exact.kinds import END, LATIN, START, TAKEN, Finder, Hit, Kind, all_of

CODE = r"(?<!`)(`{1,2})(?!`)[ ]?(?P<value>[^`\n]{1,200}?)[ ]?\1(?!`)"
COMMAND = r"(?m)^[ \t]{0,8}\$ (?P<value>[^\n`]{2,200}?)[ \t]{0,8}$"

UUID = rf"{START}[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}{END}"
MAC = rf"{START}(?:[0-9a-fA-F]{{2}}[:-]){{5}}[0-9a-fA-F]{{2}}{END}"
IBAN = rf"{START}[A-Z]{{2}}[0-9]{{2}}(?:[ \u00a0]?[A-Z0-9]{{4}}){{2,7}}(?:[ \u00a0][0-9]{{1,3}})?{END}"
# Files of courts ("12 C 345/26"), tax numbers ("12/345/67890"), SIREN and SIRET.
OFFICIAL = (
    rf"(?<![{LATIN}./-])(?:[0-9]{{1,4}} [A-Z]{{1,4}} [0-9]{{1,6}}/[0-9]{{2,4}}|[0-9]{{2,3}}/[0-9]{{3}}/[0-9]{{4,5}}"
    rf"|[0-9]{{3}}[ \u00a0][0-9]{{3}}[ \u00a0][0-9]{{3}}[ \u00a0][0-9]{{5}}){END}"
)
# A word that announces an id, then something with a digit in it.
ANNOUNCED = (
    r"(?:(?i:\b(?:order|invoice|customer|contract|booking|reservation|reference|ref|tracking|confirmation|serial|account|"
    r"policy|case|patient|licen[cs]e|permit|commande|facture|client|contrat|dossier|référence|réf|réservation|bestellung|"
    r"bestell|auftrags?|rechnungs?|kunden|vertrags?|buchungs?|aktenzeichen|steuer|versicherungs?|patienten|serien)"
    r"[ -]?(?:nummer|number|code|id|no|nr|n°|nº|num[ée]ro)?)"
    r"|(?:订单|合同|发票|客户|预约|护照|快递|运单|就诊卡|病历|税号|备案"
    r"|注文|契約|予約|請求書|顧客|会員|問い合わせ|診察券|受付|管理|製造)"
    r"(?:单)?(?:号码?|編號|编号|番号|コード|ID)?)"
    rf"(?:[ .:#№°「“\"(]|(?i:no|nr|number|id|is|lautet|ist|est|le)(?![{LATIN}])|[是为はが]){{0,5}}+"
    rf"(?P<value>[A-Z0-9](?:[A-Za-z0-9]|[/._-](?=[A-Za-z0-9])){{2,40}}){END}"
)
NUMBER_WORD = re.compile(r"(?i:number|nummer|no\b|nr|n°|nº|№|#|code|id|num[ée]ro)|号|號|番号|コード")
TOKEN = rf"(?<![{LATIN}./@+-])[A-Za-z0-9]{{1,80}}+(?:[-_][A-Za-z0-9]{{1,80}}+){{0,12}}+(?![{LATIN}+/])"
HEX = re.compile(r"(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])(?:[0-9a-f]{7,128}|[0-9A-F]{7,128})")
# "20min", "24-hour", "base64", "covid-19", "1920x1080", "x86_64"
NO_IDS = re.compile(r"[0-9]+(?:[-_]?[a-zA-Z]?[a-z]+)+|[A-Za-z]+[-_]?[0-9]{1,3}|[0-9]+x[0-9]+|[xX][0-9]+_[0-9]+")
# Membership and insurance numbers, meetings: three groups of digits and more.
GROUPS = rf"(?<![{LATIN}.,:/+-])[0-9]{{1,4}}(?:[ \u00a0-][0-9]{{2,5}}){{2,7}}{END}(?![.,-][0-9])"
LONG_NUMBER = rf"(?<![{LATIN}.,:/+-])[0-9]{{7,40}}{END}(?![.,][0-9])"

NO_TICKETS = words.every(words.NO_TICKETS)
TICKET = (
    rf"(?<![{LATIN}-])[A-Z][A-Z0-9]{{1,9}}(?:-[0-9]{{1,8}}){{1,3}}(?![{LATIN}]|-[{LATIN}])"
    rf"|(?<![{LATIN}./-])[{LATIN}.-]{{1,40}}+/[{LATIN}.-]{{1,40}}+#[0-9]{{1,7}}{END}"
    rf"|(?<![{LATIN}&#/])#[0-9]{{2,7}}{END}"
)
TAIL = r"(?:[-+.~]?(?:rc|alpha|beta|dev|post|pre|lts|final|snapshot|b|a|p)[.-]?[0-9]{0,6})?"
VERSION = (
    rf"(?<![{LATIN}.-])(?i:v[0-9]{{1,5}}(?:\.[0-9]{{1,8}}){{0,4}}{TAIL}|[0-9]{{1,5}}(?:\.[0-9]{{1,8}}){{2,4}}"
    rf"(?:[-+][0-9a-z.]{{1,20}}|{TAIL})|[0-9]{{1,5}}\.[0-9]{{1,5}}(?:rc|a|b)[0-9])(?![{LATIN}]|\.[0-9])"
)
# "PHP 8.3", "version 12": a name with a capital, or the word itself, before something that is no unit's number.
VERSION_OF = (
    rf"{START}(?P<subject>(?i:version|release|ver)|版本|バージョン|[A-Z][A-Za-z.+]{{1,20}}|Node(?:\.js)?)"
    rf"(?: (?:from|de|von)(?= [0-9.]+ ))?[ :は是为]{{0,2}}(?P<value>[0-9]{{1,4}}\.[0-9]{{1,4}})"
    rf"(?![0-9{LATIN}]|[.,:][0-9])"
    rf"|{START}(?P<product>(?i:version)|版本|バージョン|PHP|Python|Debian|Ubuntu|Node|Node\.js|PostgreSQL|Postgres|MySQL|"
    rf"MariaDB|Java|Ruby|Redis|Rails|Android|iOS|Windows|Shopware|WordPress|Kubernetes|Django)[ :は是为]{{0,2}}"
    rf"(?P<major>[0-9]{{1,3}})(?![0-9{LATIN}]|[.,:][0-9])"
)
NO_PRODUCTS = words.every("about art at chapter from if in it kapitel note only over section seite the to under")

# Marks that only quote, and the straight one where a word ends before it and none begins behind it.
QUOTED = (
    r"„(?P<a>[^„“”\n]{2,80})[“”]|“(?P<b>[^“”\n]{2,80})”|«[ \u00a0\u202f]?(?P<c>[^«»\n]{2,80}?)[ \u00a0\u202f]?»"
    r"|»(?P<d>[^«»\n]{2,80})«|「(?P<e>[^「」\n]{2,60})」|『(?P<f>[^『』\n]{2,60})』|《(?P<g>[^《》\n]{2,60})》"
    rf"|(?<![{LATIN}\"])\"(?=\S)(?P<h>[^\"\n]{{2,80}}?)(?<=\S)\"(?![{LATIN}\":])"
)
MOST_WORDS = 7
SENTENCE_END = re.compile(r"[.!?。！？…,;:，；：]$|[.!?。！？][ ]?\S")


def _ticket(match: re.Match[str]) -> Hit | None:
    return None if match[0].partition("-")[0] in NO_TICKETS else Hit(Kind.TICKET, match.start(), match.end())


def _announced(match: re.Match[str]) -> Hit | None:
    """Something with a digit in it; a short plain number only where a number was announced: "order 250 boxes"."""
    value, announced = match["value"], match[0][: match.start("value") - match.start()]
    is_counted = value.isdigit() and len(value) < 5 and not NUMBER_WORD.search(announced)
    has_digit = any(map(str.isdigit, value))
    return Hit(Kind.ID, match.start("value"), match.end("value")) if has_digit and not is_counted else None


def _token(match: re.Match[str]) -> Hit | None:
    text = match[0]
    digits = sum(map(str.isdigit, text))
    is_mixed = len(text) >= 6 and digits >= 2 and any(map(str.isalpha, text)) and not NO_IDS.fullmatch(text)
    return Hit(Kind.ID, match.start(), match.end()) if is_mixed or HEX.fullmatch(text) else None


def _version_of(match: re.Match[str]) -> Hit | None:
    group, name = ("value", "subject") if match["value"] else ("major", "product")
    if match[name].casefold() in NO_PRODUCTS:
        return None
    return Hit(Kind.VERSION, match.start(group), match.end(group), match[name])


def _quoted(match: re.Match[str]) -> Hit | None:
    """A name, not what somebody said: few words, no sentence's end, and not one plain word in scare quotes."""
    name = match.lastgroup or "a"
    text = match[name]
    is_plain = text.isascii() and text.isalpha() and text.islower()
    is_speech = len(text.split()) > MOST_WORDS or SENTENCE_END.search(text)
    if is_plain or is_speech or not any(map(str.isalnum, text.replace(TAKEN, ""))):
        return None
    return Hit(Kind.NAME, match.start(name), match.end(name))


CODE_FINDERS = (all_of(Kind.CODE, CODE), all_of(Kind.CODE, COMMAND))
FIXED_FINDERS = tuple(all_of(Kind.ID, pattern) for pattern in (UUID, MAC, IBAN))
ANNOUNCED_FINDERS = (
    Finder(re.compile(ANNOUNCED), _announced),
    Finder(re.compile(TICKET), _ticket),
    all_of(Kind.ID, OFFICIAL),
)
VERSION_FINDERS = (all_of(Kind.VERSION, VERSION),)
VERSION_OF_FINDERS = (Finder(re.compile(VERSION_OF), _version_of),)
TOKEN_FINDERS = (Finder(re.compile(TOKEN), _token), all_of(Kind.ID, GROUPS), all_of(Kind.ID, LONG_NUMBER))
NAME_FINDER = Finder(re.compile(QUOTED), _quoted)
