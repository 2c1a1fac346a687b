"""A card in a template."""

from django import template
from django.utils.safestring import SafeString

from leases.wall import CardView
from novum.web import faces

register = template.Library()


@register.filter
def card(view: CardView) -> SafeString:
    """Its HTML on the board."""
    return faces.html(view)
