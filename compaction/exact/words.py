"""The words that numbers go with, by language: units, currencies, months, labels; and the endings of names of files."""

from __future__ import annotations


def either(words: str) -> str:
    """Words between spaces as alternatives of a pattern; "_" stands for a space inside one."""
    return "|".join(words.split()).replace("_", " ")


def every(words: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in words.split())


FILE_ENDINGS = """
7z avif bak bat bz2 c cer cfg cnf conf cpp crt cs css csv db dmg doc docx env eml epub exe gif go gz h heic hpp htm
html ics ini ipynb iso jar java jpeg jpg js json jsonl jsx key kt less lock log lua m4a md mdx mjs mov mp3 mp4 msi odp
ods odt parquet pdf pem php pl png pot ppt pptx ps1 psd py pyc rar rb rs rst rtf sass scss service sh sock sql sqlite
sqlite3 srt svg swift tar tex tf tgz tif tiff toml ts tsv tsx ttf txt vcf vue wav webm webp woff woff2 xls xlsx xml xz
yaml yml zip zst
"""
DOMAINS = """
ai app at be biz br ca ch cloud cn co com de dev edu es eu example fr gov hk info internal io it jp kr lan local me
net nl online org pl pt ru se shop site store tech test tv tw uk us xyz
"""
CURRENCIES = r"""
EUR USD GBP CHF JPY CNY RMB BRL CAD AUD NZD SEK NOK DKK PLN CZK HUF INR KRW SGD HKD TWD MXN ZAR TRY ILS RUB UAH zł kr
Kč Ft US\$ CA\$ C\$ AU\$ A\$ NZ\$ HK\$ NT\$ S\$ R\$ Fr\. Rs\.? [€$£¥₹₩₽₺₴]
"""
MAGNITUDES = r"""
million billion trillion thousand hundred dozen Millionen Milliarden Million Milliarde Tausend tausend Mio\.? Mrd\.?
Tsd\.? millions? milliards? mille bn mn 万 萬 億 亿 千 百
"""
UNITS = r"""
milliseconds? seconds? minutes? hours? min s h days? weeks? months? years? nights? secs? mins? hrs? ms µs
Millisekunden Sekunden? Minuten? Stunden? Tagen? Tage Wochen? Monaten? Monate? Jahren? Jahre? Nächten? Nächte Std\.?
Min\.? Sek\.? secondes? heures? jours? semaines? mois années? ans nuits? nuitées euros? dollars? pounds? francs?
cents? pence yen yuan reais reales Euro Franken Rappen Dollar centimes [KMGTP]i?B [KMGTP]i?B/s [KMGTP]Bps [KMGT]i
[kKMGT]bit(?:/s)? [kMG]bps bytes? bits? octets [KMGT]o tokens? requests? rps qps req/s px dpi fps [kMG]?Hz v?CPUs?
vcores? cores? threads? threads Kerne kg mg µg mcg g lbs? oz tonnes? tons? Tonnen? Gramm grammes? Kilo kilos? ml cl dl
l L litres? liters? Liter gallons? km/h mph m/s km cm mm nm m² m2 qm m³ m3 m miles? ft feet inch(?:es)? in\. sq_ft
square_feet square_meters square_metres Quadratmetern? mètres_carrés Metern? mètres? metres? meters? hectares? ha
acres? sqm °[CF]? degrees? Grad degrés? kWh MWh kW MW W V mAh Ah A kPa bar hPa kcal cal kJ dB ppm IU IE mmol/l mg/dl
mg/l mmHg bpm % ‰ percent per_cent Prozent pour_cent points? bps x × rows? records? lines? files? tables? columns?
users? customers? orders? products? items? articles? pages? messages? emails? calls? replicas? pods? nodes? servers?
shards? workers? instances? connections? retries attempts copies seats? licen[cs]es people persons? guests? adults?
children kids passengers? employees participants students patients bags? boxes pieces units? servings? portions? eggs?
cups? tbsp tsp tablespoons? teaspoons? cloves? slices? tablets? pills? drops? doses? capsules? puffs Zeilen Datensätze
Dateien Kunden Bestellungen Produkte Artikel Seiten Personen Gäste Erwachsene Kinder Mitarbeitende Mitarbeiter Stück
Stk\.? Portionen Eier EL TL Prise Tabletten? Tropfen Plätze Zimmer Lizenzen Teilnehmer Kartons Paletten Nutzer
Nachrichten Anfragen Kilometern? lignes fichiers clients commandes produits personnes adultes enfants invités salariés
œufs oeufs cuillères? comprimés? gouttes gélules? places pièces exemplaires cartons palettes étages convives
kilomètres messages
"""
EASTERN_UNITS = """
日元 人民币 欧元 美元 美金 港币 台币 块钱 块 元 円 ユーロ ドル 圆 毫秒 秒钟 秒 分钟 分間 小时 時間 个小时 分 天 日間
日 周 週間 个月 か月 ヶ月 カ月 ヵ月 年間 年 晚 泊 公里 千米 米 厘米 毫米 公斤
千克 毫克 毫升 升 克 斤 平方米 平米 坪 度 キロ グラム リットル メートル センチ ミリ 个工作日 个人 个 箇 個 人 名 位
件 条 行 台 本 枚 冊 册 张 張 份 次 回 遍 片 粒 颗 匹 头 杯 盒 箱 袋 瓶
包 套 间 間 部 篇 倍 席 品 皿 カロリー 錠 滴 カプセル 歳 岁 階建て ℃ ％
"""
# Longer names before their beginnings.
MONTHS = r"""
January February March April May June July August September October November December Januar Jänner Februar März Mai
Juni Juli Oktober Dezember [Jj]anvier [Ff]évrier [Mm]ars [Aa]vril mai [Jj]uin [Jj]uillet [Aa]oût [Ss]eptembre
[Oo]ctobre [Nn]ovembre [Dd]écembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
diciembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro gennaio febbraio aprile maggio
giugno luglio settembre ottobre dicembre Jan(?:\.(?=_[0-9]))? Feb(?:\.(?=_[0-9]))? Mar(?:\.(?=_[0-9]))?
Mär(?:\.(?=_[0-9]))? Apr(?:\.(?=_[0-9]))? Jun(?:\.(?=_[0-9]))? Jul(?:\.(?=_[0-9]))? Aug(?:\.(?=_[0-9]))?
Sept?(?:\.(?=_[0-9]))? Oct(?:\.(?=_[0-9]))? Okt(?:\.(?=_[0-9]))? Nov(?:\.(?=_[0-9]))? Dec(?:\.(?=_[0-9]))?
Dez(?:\.(?=_[0-9]))? janv(?:\.(?=_[0-9]))? févr(?:\.(?=_[0-9]))? juil(?:\.(?=_[0-9]))?
"""
LABELS = """
abs absatz anlage apartment appendix art article artikel batch bay blz box building bureau bus bâtiment carriage case
casier cerfa chambre channel chapter clause code door error etage exit fach flat flight floor flug form formulaire
gate gid gleis größe halle hausnummer http ic ice immeuble kapitel konto lane level ligne limit line linie locker lot
no nr nummer n° nº page paragraf paragraph partition pid pin platform platz plz port porte quai question queue raum
rer room route row saal salle seat section seite shard shelf size siège spalte station status step steuerklasse stock
stockwerk suite table taille terminal tgv timeout tisch topic tor track train tram uid unit voie voiture vol wagen
week zeile ziffer zimmer zone zug § étage №
"""
EASTERN_LABELS = """
端口 会议号 航站楼 房间 房号 座位 航班 车次 编号 密码 验证码 尺码 ポート 部屋 会議室 座席 便名 番号 暗証番号 サイズ
内線 分机 登机口 搭乗口 窗口 限制 上限 下限 阈值 しきい値 超时 タイムアウト
"""
# Words beside a number that don't say what it is.
NO_SUBJECTS = """
about all and are around auf aus avec bis but can dans das dem den der des die ein eine environ est etwa for from get
got had has have ist its les may mit noch not now nur only our over par plus pour que qui rund sind sont sur take than
that the their this took top und under une von war was were will with you your
"""
# What looks like a ticket's key and is a standard, a format or a name.
NO_TICKETS = """
AES ARM BM COVID CP CRC DIN EN ES FP GMT GPT HTTP IEC IEEE IPV ISO LATIN MD MP PCI PS RFC RSA SARS SHA TLS USB UTC UTF
WIN
"""
ABBREVIATIONS = r"""
Dr Mr Mrs Ms St Nr No Art Abs bzw ca vgl inkl exkl Prof Tel Str Mio Mrd Std Min z\.B d\.h u\.a e\.g i\.e vs Inc Ltd
approx env réf Ref ref Fr Rs p\.m a\.m M Mme Jan Feb Apr Aug Sept Oct Nov Dec
"""
