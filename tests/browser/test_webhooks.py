"""An endpoint by hand: made, tried, and its delivery looked at."""

import re

from playwright.sync_api import expect

from accounts.callers import Caller
from tests.builders import World

URL = "https://93.184.216.34/hook"


def test_an_endpoint_is_made_tried_and_looked_at(world: World, browse):
    owner: Caller = world.owner
    page = browse(owner)
    page.goto("/webhooks")
    page.get_by_text("New endpoint").click()
    page.get_by_label("URL").fill(URL)
    page.get_by_label("Description").fill("The CI")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#secret")).to_have_text(re.compile("^whsec_"))
    page.goto("/webhooks")
    expect(page.locator("#secret")).to_have_count(0)
    page.get_by_role("link", name="The CI").click()
    page.get_by_role("button", name="Send a test event").click()
    expect(page.locator("h1")).to_have_text("webhook.test")
    expect(page.locator("#body")).to_contain_text("It works.")
    page.get_by_role("link", name="The CI").click()
    expect(page.locator("[data-delivery]")).to_have_count(1)
    page.get_by_label("State").select_option("failed")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("[data-delivery]")).to_have_count(0)
