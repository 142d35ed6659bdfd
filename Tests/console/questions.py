"""Ten questions of an operator, with the clicks of docs/console.md: each answer stands on the screen after at most three."""

import pathlib
import re

from playwright.sync_api import expect

from console import PIXELS, Console, difference, opened
from people import receiver
from service import wait_until

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "console.md"
MOST = 3


def clicks_of(question):
    """The clicks that the document names for a question."""
    rows = [line.strip("| ").split(" | ") for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    [clicks] = [row[1] for row in rows if row[0] == question]
    return [] if clicks == "none" else clicks.split(" → ")


def ask(stage, question, clicks, answer, address="now"):
    """Does just the clicks, and reads the answer. What is clicked has the words of the document, or is found by a function."""
    named = clicks_of(question)
    assert len(named) == len(clicks) <= MOST, (question, named)
    with opened(Console(stage, address=address)) as console:
        for name, click in zip(named, clicks):
            if click:
                click(console)
            else:
                [text] = re.findall(r"\*\*(.+?)\*\*", name)
                page = console.page
                page.get_by_role("link", name=text, exact=True).or_(page.get_by_role("tab", name=text, exact=True)) \
                    .or_(page.get_by_role("button", name=text, exact=True)).first.click()
        answer(console)
        console.picture(f"question-{re.sub('[^a-z]+', '-', question.lower()).strip('-')}", whole=False)


def why_rejected(stage):
    """why was a post rejected?"""
    stage.content.rejected
    ask(stage, "Why was this post rejected?", [
        lambda console: console.part("Rejected after processing, last day").get_by_role("listitem").filter(has_text="corrupt_video")
        .get_by_role("link").click(),
        lambda console: console.main.locator(f"[data-post='{stage.content.rejected['id']}']")
        .get_by_role("link", name="Open", exact=True).click(),
    ], lambda console: expect(console.main.get_by_role("list", name="Reasons")).to_contain_text("What helps:"))


def slow_worker(stage):
    """which worker is slow?"""
    for host, seconds in (("fast-machine", 2.0), ("faster-machine", 1.9), ("slow-machine", 30.0)):
        stage.content.worker(host, seconds)

    def answer(console):
        line = console.part("Workers").get_by_role("listitem").filter(has_text="slow-machine")
        expect(line.locator(".badge")).to_have_text("slow")
        expect(line).to_contain_text("times the others’ median")

    ask(stage, "Which worker is slow?", [], answer)


def full_disk(stage):
    """does the disk become full?"""
    stage.content.ready
    ask(stage, "Does the disk become full?", [lambda console: console.main.locator(".tile", has_text="Free space").click()],
        lambda console: expect(console.part("Space")).to_contain_text(re.compile("It is too early to say|At this rate it (takes|is not full)")))


def longest_wait(stage):
    """who waits longest?"""
    author = stage.content.new("patient")
    job = stage.content.job("available", author=author, age=7200, queue="elsewhere-too")

    def click(console):
        line = console.part("Who waits longest").get_by_role("listitem").first
        expect(line).to_contain_text(author)
        line.get_by_role("link").click()

    ask(stage, "Who waits longest?", [click], lambda console: expect(console.part("Facts")).to_contain_text(author))
    stage.content.request("POST", f"/v1/jobs/{job}/cancel")


def moderation(stage):
    """what did moderators decide today?"""
    content = stage.content
    _, case = content.case()
    content.request("POST", f"/v1/moderation/cases/{case['id']}/decision", {"decision": "hide", "note": "gold, once more"})
    ask(stage, "What did moderators decide today?", [None, None],
        lambda console: expect(console.part("Decided today")).to_contain_text("gold, once more"))


def inset(stage):
    """what changes if the inset moves?"""
    before = []

    def choose(console):
        canvas = console.page.get_by_role("img", name="What this definition would make")
        expect(canvas).to_be_visible()
        before.append(canvas.evaluate(PIXELS))
        console.page.get_by_label("Corner").select_option("bottom-right")

    def answer(console):
        after = console.page.get_by_role("img", name="What this definition would make").evaluate(PIXELS)
        assert difference(before[0], after) > 16

    ask(stage, "What changes if the inset moves?", [None, choose], answer, address=f"post/{stage.content.ready['id']}")


def next_alert(stage):
    """which alert is next?"""
    stage.content.dead

    def answer(console):
        first = console.part("Alerts, the nearest first").get_by_role("listitem").first.locator("b")
        expect(console.main.locator(".alarm b")).to_have_text(re.compile("^Take5"))
        assert console.main.locator(".alarm b").inner_text() == first.inner_text()

    ask(stage, "Which alert is next?", [], answer)


def dead_jobs(stage):
    """which jobs are dead, and of what?"""
    dead = stage.content.dead
    ask(stage, "Which jobs are dead, and of what?", [
        lambda console: console.part("Dead jobs by error").get_by_role("listitem").filter(has_text="the disk is broken")
        .get_by_role("link").click(),
    ], lambda console: expect(console.main.locator(f".long-row[data-key='{dead}']")).to_contain_text("the disk is broken"))


def back_end(stage):
    """did the back-end get its events?"""
    content = stage.content
    with receiver() as (url, _):
        webhook = content.webhook(url)["id"]
        content.request("POST", f"/v1/posts/{content.ready['id']}/comments", {"author": "bob", "text": "Once more"})
        wait_until(lambda: [each for each in content.request("GET", f"/v1/webhooks/{webhook}/deliveries")["items"]
                            if each["state"] == "delivered"], "a delivery")
        ask(stage, "Did the back-end get its events?", [
            None, None, lambda console: console.main.locator(f"a[href='#/webhook/{webhook}']").click(),
        ], lambda console: expect(console.part("Deliveries").get_by_role("listitem").first).to_contain_text("status 204"))
        content.request("DELETE", f"/v1/webhooks/{webhook}")


def traces(stage):
    """do the outputs say where it was filmed?"""
    ask(stage, "Do the outputs say where it was filmed?", [None],
        lambda console: expect(console.part("The check")).to_contain_text("none identifies anything"),
        address=f"post/{stage.content.ready['id']}")


TESTS = (why_rejected, slow_worker, full_disk, longest_wait, moderation, inset, next_alert, dead_jobs, back_end, traces)
