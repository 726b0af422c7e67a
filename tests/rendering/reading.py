"""Reads rendered HTML back: its elements with attributes, its top-level elements and its visible text."""

from html.parser import HTMLParser

VOID = {"br", "hr"}


class Reader(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.found, self.text, self.depth, self.roots = [], "", 0, []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if self.depth == 0:
            self.roots.append(tag)
        if tag not in VOID:
            self.depth += 1

    def handle_endtag(self, tag):
        self.depth -= tag not in VOID

    def handle_data(self, data):
        self.text += data
        if self.depth == 0 and data.strip():
            self.roots.append("#text")


def elements(markup):
    return Reader(markup).found


def roots(markup):
    return Reader(markup).roots


def visible(markup):
    return Reader(markup).text
