"""How numbers, dates and times are written, by language: what Django's own formats say otherwise than this page."""
