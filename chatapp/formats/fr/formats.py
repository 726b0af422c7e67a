"""Groups of digits parted by the narrow no-break space, as browsers do (Django: the wide one)."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
YEAR_MONTH_FORMAT = "F Y"
MONTH_DAY_FORMAT = "j M"
SHORT_DATETIME_FORMAT = "j M, H:i"
THOUSAND_SEPARATOR = "\u202f"
