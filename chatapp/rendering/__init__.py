"""Text to safe HTML: whole, as a person typed it, or block by block while a model still writes."""

from chatapp.rendering.highlighting import CODE_TOOLS, UNNAMED_CODE, code_tools, unnamed_code
from chatapp.rendering.streaming import Frame, StreamedText, split
from chatapp.rendering.text import render_plain
from chatapp.rendering.whole import render

__all__ = [
    "CODE_TOOLS",
    "UNNAMED_CODE",
    "Frame",
    "StreamedText",
    "code_tools",
    "render",
    "render_plain",
    "split",
    "unnamed_code",
]
