"""The page that shows the OpenAPI document, in a real browser under our own CSP."""

from urllib.parse import urlsplit

from playwright.sync_api import expect


def test_the_document_can_be_browsed_and_nobody_else_is_asked(page, world):
    asked = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    page.goto("/v1/docs")
    claim = page.locator("#operations-leases-claim_next_card")
    expect(claim).to_be_visible()
    assert page.locator(".opblock").count() > 40
    claim.locator(".opblock-summary-control").click()
    expect(claim.locator(".opblock-body")).to_be_visible()
    assert len(asked - {""}) == 1, asked
