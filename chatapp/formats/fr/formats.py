"""Groups of digits parted by the narrow no-break space, as browsers do (Django: the wide one)."""

DATE_FORMAT = "j N Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = r"j N Y \à H:i"
YEAR_MONTH_FORMAT = "F Y"
MONTH_DAY_FORMAT = "j N"
SHORT_DATETIME_FORMAT = r"j N \à H:i"
THOUSAND_SEPARATOR = "\u202f"
