"""Times as people say them."""

from datetime import datetime

from django import template
from django.utils.timesince import timesince
from django.utils.timezone import now
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def ago(moment: datetime) -> str:
    """ "just now", "5 minutes ago": for people, not for reckoning."""
    if (now() - moment).total_seconds() < 60:
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, depth=1)}
