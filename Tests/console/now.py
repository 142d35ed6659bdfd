"""The view Now: it shows the figures of the service, and its charts move with the load."""

import pathlib
import re

from playwright.sync_api import expect

from console import Console, opened
from service import wait_until

JOBS = "Jobs by minute"
RULES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Packaging" / "prometheus" / "take5.rules.yml"


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
    """the view shows the figures of the service"""
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
        expect(console.part("Rejected after processing, last day")).to_contain_text("corrupt_video")
        expect(console.part("Dead jobs by error")).to_contain_text("the disk is broken")
        expect(console.part("Stages of an attempt").locator("svg.chart")).to_have_attribute("aria-label", re.compile("post"))
        alert = console.part("Alerts, the nearest first").get_by_role("listitem").filter(has_text="Take5JobsDead")
        expect(alert).to_contain_text("dead job")
        expect(alert.locator(".badge")).to_have_text("fires")
        expect(console.main.locator(".alarm")).to_contain_text("fires above")
        console.picture("now")


def calm(stage):
    """rules that are far from their thresholds are a number, until they are asked for"""
    with opened(Console(stage)) as console:
        part = console.part("Alerts, the nearest first")
        part.get_by_role("button", name="show all").click()
        expect(part.get_by_role("listitem").filter(has_text="Take5WallDown")).to_be_visible()
        # As many as the file for Prometheus has, but for the one that no page can show.
        expect(part.get_by_role("listitem")).to_have_count(RULES.read_text().count("- alert: ") - 1)
        part.get_by_role("button", name="Show only the near ones").click()
        expect(part.get_by_role("listitem").filter(has_text="Take5WallDown")).to_have_count(0)


def times(stage):
    """times have 24 hours, and the page names their zone"""
    with opened(Console(stage)) as console:
        expect(console.page.locator("#top .zone")).to_have_text("Europe/Berlin")
        expect(console.main.locator(".now-head")).to_contain_text(re.compile(r"as of .* \d\d:\d\d:\d\d$"))
        assert console.page.evaluate("""async () => (await import("/console/ui.js")).exactly("2026-01-02T20:04:05Z")""").endswith("21:04:05")


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

        def reading():
            # A chart that the first figures replace meanwhile has no focus.
            part.locator("svg.chart").focus()
            console.page.keyboard.press("End")
            console.page.keyboard.press("ArrowLeft")
            return re.match(r"\d\d:\d\d", part.locator("output").inner_text())

        wait_until(reading, "a chart is read")
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


def rule(text):
    """A rule of the file as the console has it: its name, its seconds, whether it is critical, and its threshold."""
    duration = re.search(r"^        for: (\d+)([ms])$", text, re.M)
    expression = text.partition("expr:")[2].partition("\n        labels:")[0].partition("\n        for:")[0]
    threshold = re.findall(r"[<>=] ([\d.]+)", expression)[-1]
    return [text.split()[0], int(duration[1]) * (60 if duration[2] == "m" else 1) if duration else 0,
            "severity: critical" in text, float(threshold)]


def rules(stage):
    """the alerts are the rules of the file for Prometheus, with their names, durations and thresholds"""
    expected = [rule(text) for text in RULES.read_text().split("- alert: ")[1:]]
    with opened(Console(stage)) as console:
        shown = console.page.evaluate("""async () => {
            const { judge } = await import("/console/alerts.js")
            const operations = { workers: [], queues: [], times: [], storage: null }
            return judge({ operations, metrics: null }).map(each => [each.name, each.for, Boolean(each.isCritical), each.limit ?? null])
        }""")
    # A page that the service serves cannot say that the service is down.
    wanted = {name: others for name, *others in expected if name != "Take5Down"}
    assert sorted(wanted) == sorted(name for name, *_ in shown), (wanted, shown)
    for name, duration, is_critical, threshold in shown:
        # Rules without a threshold of their own hold as soon as there is something.
        found = wanted[name] if threshold is not None else [*wanted[name][:2], None]
        assert [duration, is_critical, threshold] == found, (name, found, duration, is_critical, threshold)
        assert threshold is not None or wanted[name][2] in (0, 1), name


def hour(completed, failed, seconds, kind="post"):
    """What a worker has done within the last hour, as the service says it."""
    return {"kind": kind, "completed": completed, "failed": failed, "lost": 0, "p50_seconds": seconds, "p95_seconds": seconds}


def judged_workers(stage):
    """a worker is slow by attempts that completed, and one whose attempts fail says so"""
    hosts = {
        # Attempts that fail at once take almost no time: a worker beside them is not slow.
        "broken": [hour(6, 8, 0.01)], "healthy": [hour(40, 1, 6.0)],
        "quick": [hour(30, 0, 0.5, "look")], "late": [hour(20, 2, 4.0, "look")], "idle": [hour(2, 0, 90.0, "look")],
        "unlucky": [hour(0, 4, 0.01, "look")],
    }
    with opened(Console(stage, address="store")) as console:
        def fulfil(route):
            response = route.fetch()
            workers = [{"number": number, "host": host, "process": 1, "slots": 2, "jobs": 0, "is_alive": True, "beat_age_seconds": 1,
                        "lease_seconds": 30, "started_at": "2026-01-01T00:00:00.000Z", "last_hour": rows}
                       for number, (host, rows) in enumerate(hosts.items(), 1)]
            route.fulfill(response=response, json={**response.json(), "workers": workers})

        console.page.route("**/v1/operations", fulfil)
        console.go("now")
        lines = console.part("Workers").get_by_role("listitem")
        expect(lines).to_have_count(len(hosts))
        for host, state in (("broken", "fails"), ("healthy", "alive"), ("quick", "alive"), ("late", "slow"), ("idle", "alive"), ("unlucky", "alive")):
            expect(lines.filter(has_text=f"{host}:1").locator(".badge")).to_have_text(state)
        expect(lines.filter(has_text="broken:1")).to_contain_text("8 of 14 attempts failed.")
        expect(lines.filter(has_text="late:1")).to_contain_text("A look takes 8.0 times the others’ median.")
        expect(console.main.locator(".tile", has_text="Failures of the last hour")).to_contain_text("15 failed attempts of the workers that run")
        console.page.unroute_all(behavior="ignoreErrors")


def errors_alike(stage):
    """errors that differ by ids are one line, which opens the jobs of all of them"""
    found = [("blob not found: 0a1b2c3d4e5f60718293", 1), ("the disk is full", 2), ("blob not found: ffee00112233445566", 1),
             ("blob not found: 01a22542-9d1a-7a10-9d94-6e793c7f4cbc", 1), (None, 1)]
    with opened(Console(stage, address="store")) as console:
        def fulfil(route):
            response = route.fetch()
            route.fulfill(response=response, json={**response.json(), "errors": [{"error": error, "jobs": jobs} for error, jobs in found]})

        console.page.route("**/v1/operations", fulfil)
        console.go("now")
        lines = console.part("Dead jobs by error").get_by_role("listitem")
        expect(lines).to_contain_text([re.compile("^blob not found: …3 jobs"), "the disk is full", "without an error"])
        lines.first.get_by_role("link").click()
        expect(console.page.get_by_label("Error has")).to_have_value("blob not found:")
        console.page.unroute_all(behavior="ignoreErrors")


def silent_worker(stage):
    """a worker is lost for the time that has passed since its own lease"""
    with opened(Console(stage)) as console:
        states = console.page.evaluate("""async () => {
            const { judge } = await import("/console/alerts.js?lease")
            const state = (beat_age_seconds, lease_seconds) => {
                const operations = { workers: [{ is_alive: false, beat_age_seconds, lease_seconds }], queues: [], times: [], storage: null }
                return judge({ operations, metrics: null }).find(each => each.name === "Take5WorkerLost").state
            }
            return [state(125, 120), state(140, 120)]
        }""")
    assert states == ["soon", "fires"], states


TESTS = (figures, calm, times, load, keys, links, rules, judged_workers, errors_alike, silent_worker)
