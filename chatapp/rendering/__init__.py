"""Text to safe HTML: whole, as a person typed it, or block by block while a model still writes."""

from chatapp.rendering.streaming import Frame, StreamedText, split
from chatapp.rendering.text import render_plain
from chatapp.rendering.whole import render

__all__ = ["Frame", "StreamedText", "render", "render_plain", "split"]
