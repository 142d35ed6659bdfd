"""A service that is killed: the console says so, and comes back by itself."""

import re

from playwright.sync_api import expect

from console import Console, opened
from submitting import choose

# What the browser says of a service that is not there, or that starts.
OUT = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE_CHUNKED_ENCODING", "status of 503")


def view(stage, address, isAlive):
    with opened(Console(stage, address=address), OUT) as console:
        bar = console.page.locator("#outage")
        expect(bar).to_be_hidden()
        stage.service.kill()
        expect(bar).to_be_visible()
        expect(bar).to_contain_text("The service does not answer.")
        console.picture(f"outage-{re.split('[/?]', address)[0]}", whole=False)
        stage.service.start()
        expect(bar).to_be_hidden()
        console.says("The service answers again.")
        isAlive(console)


def now(stage):
    """Now shows an outage, and is live again after it"""

    def is_live(console):
        at = console.main.locator(".now-head span")
        former = at.inner_text()
        expect(at).not_to_have_text(former)

    view(stage, "now", is_live)


def job_list(stage):
    """the list of jobs shows an outage, and what is new after it"""
    stage.content.ready

    def is_live(console):
        new = stage.content.job("available", author="frank", age=0)
        expect(console.main.get_by_role("row").filter(has_text=new[:8]).filter(has_text="frank")).to_be_visible()

    view(stage, "jobs", is_live)


def post(stage):
    """a post shows an outage, and what others write after it"""
    marker = stage.content.marker(stage.content.new("author"), title="Before the outage")

    def is_live(console):
        stage.content.request("PATCH", f"/v1/posts/{marker['id']}", {"title": "After the outage"})
        expect(console.main.locator("h1")).to_have_text("After the outage")

    view(stage, f"post/{marker['id']}", is_live)


def opened_meanwhile(stage):
    """a view that is opened during an outage comes once the service is there"""
    with opened(Console(stage), (*OUT, "dynamically imported module")) as console:
        stage.service.kill()
        console.page.evaluate("location.hash = '#/people'")
        expect(console.page.locator("#outage")).to_be_visible()
        stage.service.start()
        expect(console.main.get_by_label("Name, user name or id")).to_be_visible()
        expect(console.page.locator("#outage")).to_be_hidden()


def upload(stage):
    """an upload continues by itself after the service was killed"""
    with opened(Console(stage, address="submit"), OUT) as console:
        session = console.context.new_cdp_session(console.page)
        session.send("Network.enable")
        limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 600_000}
        session.send("Network.emulateNetworkConditions", limits)
        choose(console, "outage", caption="Through an outage")
        console.button("Submit").click()
        shown = console.main.locator(".submission").first
        console.until("""() => document.querySelector(".upload-bars progress")?.position > 0.2""")
        stage.service.kill()
        expect(shown.locator("summary .badge")).to_have_text("waiting")
        console.picture("upload-waits")
        stage.service.start()
        session.send("Network.emulateNetworkConditions", {**limits, "uploadThroughput": -1})
        expect(shown.locator("summary .badge")).to_have_text("ready")


def sign_out(stage):
    """who signs out during an outage reads that it has not happened yet, and is signed out once the service is there"""
    with opened(Console(stage, address="people?tab=window"), OUT) as console:
        stage.service.kill()
        console.page.get_by_role("button", name="Sign out").click()
        expect(console.page.get_by_role("heading", name="Not signed out yet")).to_be_visible()
        console.picture("outage-sign-out", whole=False)
        stage.service.start()
        expect(console.page.get_by_label("Key")).to_be_visible()
        assert console.context.cookies() == [], console.context.cookies()


TESTS = (now, job_list, post, opened_meanwhile, upload, sign_out)
