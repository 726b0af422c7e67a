"""What is taken. The page says these where one attaches, and again where something is refused."""

from __future__ import annotations

MEGABYTE = 1_000_000
# Of a file as it is uploaded.
MOST_BYTES = 20 * MEGABYTE
MOST_FILES = 10
# Of a text, or of what a PDF says: some 250,000 tokens.
MOST_CHARACTERS = 1_000_000
MOST_PDF_PAGES = 500
PDF_SECONDS = 20
PDF_MEMORY_BYTES = 1_500 * MEGABYTE
# A photograph of today has 12 to 40 million; decoded, each takes four bytes.
MOST_PIXELS = 40_000_000
# Models look at an image in tiles of some 500 pixels and shrink what is larger themselves.
LONGEST_SIDE = 2_048
LONGEST_NAME = 120
