"""The clock of 24 hours; an abbreviated month."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
YEAR_MONTH_FORMAT = "F Y"
MONTH_DAY_FORMAT = "j M"
SHORT_DATETIME_FORMAT = "j M, H:i"
