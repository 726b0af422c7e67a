"""The doctor: looks at an installation from outside and inside, and says what is in order and what isn't."""

from chatapp.doctor.examining import examine
from chatapp.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "examine"]
