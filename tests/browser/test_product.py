"""The product that the other tests of this folder look at."""

from playwright.sync_api import expect


def test_the_product_answers_and_the_page_is_quiet(page, world):
    page.goto("/v1/healthz")
    expect(page.locator("body")).to_contain_text("ok")
