"""The languages to choose from, and sentences with elements in them."""

from django import template
from django.conf import settings
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def languages() -> list[tuple[str, str]]:
    """Each with its code and its own name; Django's tag would put the names into the language in force."""
    return settings.LANGUAGES


@register.simple_block_tag
def piece(content: str) -> str:
    """Markup that stands in a sentence as a placeholder: {% piece as left %}…{% endpiece %}; no blank after it."""
    return SafeString(content.strip())
