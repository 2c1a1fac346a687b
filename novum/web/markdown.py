"""Markdown that people and agents wrote, as HTML that can do no harm.

The one way from markdown to a page: no raw HTML, links to http(s), mailto or this site
only, pictures as links (a picture would tell its host who looks at the card).
"""

import re
from html import escape

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

MAX_CHARACTERS = 100_000
_MENTION = re.compile(r"(?<![\w@/.-])@([a-z0-9][a-z0-9-]{0,38})(?![\w@])")
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6",
    "hr", "li", "mark", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th",
    "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "mark": {"class"}}

_renderer = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(
    ["table", "strikethrough"]
)
# Disabled, so that `![x](y)` is an exclamation mark and a link.
_renderer.disable(["image"])


def render(text: str, handles: frozenset[str] = frozenset()) -> SafeString:
    """As HTML; @mentions of `handles` are marked."""
    tokens = _renderer.parse(text[:MAX_CHARACTERS])
    for token in tokens:
        # The page has headings of its own above these.
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    html: str = _renderer.renderer.render(tokens, _renderer.options, {})
    if handles:
        html = _with_mentions(html, handles)
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)


def _with_mentions(html: str, handles: frozenset[str]) -> str:
    """Between tags and outside of code only."""
    parts = re.split(
        r"(<(?:pre|code|a)\b.*?</(?:pre|code|a)>|<[^>]*>)", html, flags=re.S
    )
    for i in range(0, len(parts), 2):
        parts[i] = _MENTION.sub(lambda found: _mark(found, handles), parts[i])
    return "".join(parts)


def _mark(found: re.Match[str], handles: frozenset[str]) -> str:
    if found[1] not in handles:
        return found[0]
    return f'<mark class="mention">@{escape(found[1])}</mark>'
