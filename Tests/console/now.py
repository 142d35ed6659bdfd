"""The view Now: its figures are those of the service, and its charts move with the load."""

import re

from playwright.sync_api import expect

from console import Console, opened

JOBS = "Jobs by minute"


def tile(console, name):
    """The figure of a tile."""
    return console.main.locator(".tile", has_text=name).locator("b")


def number(text):
    """The first number of a text."""
    return int(re.search(r"[\d,]+", text)[0].replace(",", ""))


def chart(console, title):
    """What a chart says and draws."""
    drawn = console.part(title).locator("svg.chart")
    return drawn.get_attribute("aria-label"), drawn.evaluate("chart => chart.innerHTML")


def figures(stage):
    """the figures are those of the service"""
    content = stage.content
    content.ready, content.rejected, content.dead
    with opened(Console(stage)) as console:
        operations = content.request("GET", "/v1/operations")
        ended = sum(each["accepted"] for each in operations["last_hour"] if each["kind"] == "post")
        expect(console.main.locator(".tile", has_text="Moments a minute")).to_contain_text(f"{ended} in the last hour")
        dead = sum(each["jobs"] for each in operations["queues"] if each["state"] == "dead")
        expect(tile(console, "Dead jobs")).to_have_text(str(dead))
        expect(tile(console, "Free space")).to_have_text(re.compile(r"^[\d.]+ [MGT]iB$"))
        expect(tile(console, "To ready")).to_have_text(re.compile(r"^[\d.]+ s$"))
        [worker] = [each for each in operations["workers"] if each["is_alive"] and each["host"] != "far-away"][-1:]
        line = console.part("Workers").get_by_role("listitem").filter(has_text=f"{worker['host']}:{worker['process']}")
        expect(line).to_contain_text("alive")
        expect(line).to_contain_text("Heartbeat")
        expect(line).to_contain_text("post: ")
        expect(console.part("Rejections of the last day")).to_contain_text("corrupt_video")
        expect(console.part("Dead jobs by error")).to_contain_text("the disk is broken")
        expect(console.part("Stages of an attempt").locator("svg.chart")).to_have_attribute("aria-label", re.compile("post"))
        alert = console.part("Alerts, the nearest first").get_by_role("listitem").filter(has_text="Take5JobsDead")
        expect(alert).to_contain_text("dead job")
        expect(alert.locator(".badge")).to_have_text("fires")
        expect(console.main.locator(".alarm")).to_contain_text("fires above")
        console.picture("now")


def load(stage):
    """the charts and the tiles move with the load"""
    content = stage.content
    content.ready
    with opened(Console(stage)) as console:
        ended, bars = chart(console, JOBS)
        _, line = chart(console, "Jobs in the queue")
        posts = [content.moment("eve", waits=False) for _ in range(6)]
        queue = console.part("Jobs in the queue").locator("svg.chart")
        expect(queue).to_have_attribute("aria-label", re.compile(r"now [1-9]\d* waiting, [1-9]"))
        expect(tile(console, "Jobs waiting")).to_have_text(re.compile("^[1-9]"))
        expect(tile(console, "Oldest wait")).not_to_have_text("–")
        console.picture("now-busy")
        for post in posts:
            assert content.finished(post)["status"] == "ready"
        expect(queue).to_have_attribute("aria-label", re.compile("now 0 waiting, 0 running"))
        wanted = number(ended.partition(":")[2]) + len(posts)
        console.until(f"""() => Number(/: ([\\d,]+)/.exec(document.querySelector('[aria-label="{JOBS}"] svg.chart')
            .getAttribute("aria-label"))[1].replace(",", "")) >= {wanted}""")
        assert chart(console, JOBS)[1] != bars and chart(console, "Jobs in the queue")[1] != line, "the charts have not moved"


def keys(stage):
    """a chart is read by the keyboard, and jobs by kind or by outcome"""
    stage.content.ready
    with opened(Console(stage)) as console:
        part = console.part(JOBS)
        part.locator("svg.chart").focus()
        console.page.keyboard.press("End")
        console.page.keyboard.press("ArrowLeft")
        expect(part.locator("output")).to_have_text(re.compile(r"^\d\d:\d\d"))
        expect(part.locator(".legend")).to_contain_text("accepted")
        part.get_by_role("button", name="by kind").click()
        expect(part.locator(".legend")).to_contain_text("post")
        expect(part.locator("svg.chart")).to_have_attribute("aria-label", re.compile("post"))


def links(stage):
    """each figure leads to its records"""
    stage.content.dead
    with opened(Console(stage)) as console:
        console.main.locator(".tile", has_text="Dead jobs").click()
        expect(console.main.get_by_role("grid").get_by_role("row")).not_to_have_count(1)
        assert "state=dead" in console.page.url
        console.go("now")
        console.main.locator(".tile", has_text="Free space").click()
        expect(console.page.get_by_role("heading", name="Store")).to_be_visible()
        console.go("now")
        console.part("Dead jobs by error").get_by_role("link").first.click()
        expect(console.page.get_by_label("Error has")).to_have_value("the disk is broken")


TESTS = (figures, load, keys, links)
