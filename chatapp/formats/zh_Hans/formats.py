"""Thousands in groups of three, as browsers do (Django: no groups)."""

DATE_FORMAT = "Y年n月j日"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y年n月j日 H:i"
YEAR_MONTH_FORMAT = "Y年n月"
MONTH_DAY_FORMAT = "n月j日"
SHORT_DATETIME_FORMAT = "n月j日 H:i"
NUMBER_GROUPING = 3
THOUSAND_SEPARATOR = ","
