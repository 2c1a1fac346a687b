"""Whatever is written, the page shows text: no script, no picture, no odd address."""

import pytest

from novum.web.markdown import render


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "![x](https://example.org/pixel.png)",
        '<https://example.org/"onmouseover=alert(1)>',
        "```\n</code></pre><script>alert(1)</script>\n```",
        "`</code><svg onload=alert(1)>`",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_nothing_written_can_run_or_load(text):
    html = render(text, frozenset({"ann"})).lower()
    for bad in ("<script", "<img", "<svg", "<iframe", 'href="javascript', 'href="data'):
        assert bad not in html
    assert ' onerror="' not in html
    assert ' onmouseover="' not in html


def test_links_leave_without_telling_where_from():
    html = render("[x](https://example.org)")
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'href="https://example.org"' in html


def test_a_picture_becomes_a_link():
    html = render("![cat](https://example.org/cat.png)")
    assert '<a href="https://example.org/cat.png"' in html


def test_mentions_of_people_here_are_marked_outside_of_code_only():
    html = render("@ann @bob `@ann` x@ann.org\n\n    @ann", frozenset({"ann"}))
    assert html.count('<mark class="mention">@ann</mark>') == 1
    assert "@bob" in html


def test_headings_stay_below_those_of_the_page():
    assert "<h3>One</h3>" in render("# One")
    assert "<h6>Six</h6>" in render("###### Six")


def test_tables_and_lists_are_drawn():
    html = render("|a|b|\n|-|-|\n|1|2|\n\n- x\n\n~~old~~")
    for tag in ("<table>", "<td>1</td>", "<li>x</li>", "<s>old</s>"):
        assert tag in html
