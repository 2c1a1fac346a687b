"""A card in a template."""

from django import template
from django.utils.safestring import SafeString

from leases.wall import CardView
from novum.web import faces
from tasks_people.items import TaskItem

register = template.Library()


@register.filter
def card(view: CardView) -> SafeString:
    """Its HTML on the board."""
    return faces.html(view)


@register.filter
def task(item: TaskItem) -> SafeString:
    """The same with the name of its queue."""
    return faces.html(item.view, item.queue)
