"""The view Jobs: a filter in the address, changes of one and of many jobs, and the quarantine."""

import json
import re

from playwright.sync_api import expect

from console import PHONE, Console, opened


def row(console, job):
    return console.main.locator(f".long-row[data-key='{job}']")


def list_of(stage, *states):
    """Jobs of an author of their own, one for each state; returns the author and the jobs."""
    author = stage.content.new("worker")
    return author, [stage.content.job(state, author=author, error="out of paper", age=900 - 60 * index)
                    for index, state in enumerate(states)]


def filters(stage):
    """the filter finds jobs by state, author and error, and stands in the address"""
    author, (dead, scheduled) = list_of(stage, "dead", "scheduled")
    with opened(Console(stage, address="jobs")) as console:
        console.page.get_by_label("Author").fill(author)
        expect(row(console, dead)).to_be_visible()
        expect(row(console, scheduled)).to_be_visible()
        expect(console.main.get_by_role("status").filter(has_text="2 jobs")).to_be_visible()
        console.button(re.compile("^dead")).click()
        expect(row(console, scheduled)).to_have_count(0)
        expect(row(console, dead)).to_contain_text("out of paper")
        console.page.get_by_label("Error has").fill("ink")
        expect(console.main.get_by_text("No job is as the filter says.")).to_be_visible()
        console.page.get_by_label("Error has").fill("paper")
        expect(row(console, dead)).to_be_visible()
        assert re.search(f"state=dead.*author={author}.*error=paper", console.page.url), console.page.url
        console.picture("jobs-filter")
        console.page.reload()
        console.drawn("jobs")
        expect(row(console, dead)).to_be_visible()
        expect(console.page.get_by_label("Error has")).to_have_value("paper")


def one(stage):
    """one job is cancelled after a question, another one is retried"""
    author, (dead, scheduled) = list_of(stage, "dead", "scheduled")
    with opened(Console(stage, address=f"jobs?author={author}")) as console:
        row(console, scheduled).get_by_role("button", name="Cancel").click()
        console.answer("Cancel the job")
        console.says("The job is cancelled.")
        expect(row(console, scheduled).locator(".badge")).to_have_text("cancelled")
        row(console, dead).get_by_role("button", name="Retry").click()
        console.says("The job is retried.")
        expect(row(console, dead).locator(".badge")).to_have_text("available")
        states = {job: stage.content.request("GET", f"/v1/jobs/{job}")["state"] for job in (dead, scheduled)}
        assert states == {dead: "available", scheduled: "cancelled"}, states


def many(stage):
    """all jobs of a filter are retried, after they are counted"""
    author, found = list_of(stage, "dead", "dead", "dead", "scheduled")
    with opened(Console(stage, address=f"jobs?author={author}&state=dead")) as console:
        console.button("Retry all of the filter…").click()
        dialog = console.page.locator("dialog[open]")
        expect(dialog).to_contain_text("This would retry 3 of 3 jobs.")
        expect(dialog).to_contain_text(author)
        console.picture("jobs-bulk", whole=False)
        dialog.get_by_role("button", name="Cancel", exact=True).click()
        assert stage.content.request("GET", f"/v1/jobs/{found[0]}")["state"] == "dead"
        console.button("Retry all of the filter…").click()
        console.answer("Retry 3 jobs")
        console.says("3 jobs of 3 are retried.")
        states = [stage.content.request("GET", f"/v1/jobs/{job}")["state"] for job in found]
        assert states == ["available"] * 3 + ["scheduled"], states


def in_turns(stage):
    """a change of many jobs goes in turns, of the jobs that were counted and no later one, and stops at a button"""
    author, _ = list_of(stage, "dead")
    asked = []

    def answer(route):
        request = route.request.post_data_json
        asked.append(request)
        done = 10_000 * (len(asked) - 1)
        if request["dry_run"]:
            changed, remaining = 10_000, 15_000
        else:
            changed, remaining = request["limit"], 25_000 - done
        if len(asked) == stops_at:
            console.button("Stop").click(no_wait_after=True)
        route.fulfill(status=200, content_type="application/json", body=json.dumps(
            {"matched": 26_000, "changed": changed, "remaining": remaining, "before": "2026-01-02T03:04:05.678Z"}))

    for stops_at, limits, said in ((None, [10_000, 10_000, 5_000], "25,000 jobs of 25,000 are retried."),
                                   (3, [10_000, 10_000], "20,000 jobs of 25,000 are retried.")):
        asked.clear()
        with opened(Console(stage, address=f"jobs?author={author}&state=dead")) as console:
            console.page.route("**/v1/operations/jobs", answer)
            console.button("Retry all of the filter…").click()
            expect(console.page.locator("dialog[open]")).to_contain_text("This would retry 25,000 of 26,000 jobs.")
            console.answer("Retry 25,000 jobs")
            console.says(said)
            assert [each["limit"] for each in asked[1:]] == limits, asked
            assert all(each["before"] == "2026-01-02T03:04:05.678Z" and each["filter"] == asked[0]["filter"] for each in asked[1:]), asked
            expect(console.main.get_by_role("button", name="Stop")).to_have_count(0)


def chosen(stage):
    """jobs are chosen and cancelled by the keyboard"""
    author, found = list_of(stage, "scheduled", "scheduled", "scheduled")
    with opened(Console(stage, address=f"jobs?author={author}")) as console:
        row(console, found[2]).focus()
        console.page.keyboard.press("Space")
        console.page.keyboard.press("ArrowDown")
        console.page.keyboard.press("Space")
        expect(console.main.get_by_text("2 jobs chosen")).to_be_visible()
        console.button("Cancel 2").click()
        console.answer("Cancel 2 jobs")
        console.says("2 jobs of 2 are cancelled.")
        states = [stage.content.request("GET", f"/v1/jobs/{job}")["state"] for job in found]
        assert states == ["scheduled", "cancelled", "cancelled"], states
        row(console, found[0]).focus()
        console.page.keyboard.press("Enter")
        console.drawn("job")


def phone(stage):
    """on a phone each row shows all of its cells"""
    author, found = list_of(stage, "dead", "scheduled")
    with opened(Console(stage, address=f"jobs?author={author}", size=PHONE)) as console:
        expect(row(console, found[0])).to_be_visible()
        cut = console.page.evaluate("""[...document.querySelectorAll(".long-room .long-row")].flatMap(row => {
            const frame = row.getBoundingClientRect()
            return [...row.children].filter(cell => {
                const box = cell.getBoundingClientRect()
                return box.left < frame.left || box.right > frame.right + 1 || box.bottom > frame.bottom + 1
            }).map(cell => cell.className)
        })""")
        assert cut == [], cut
        console.picture("jobs-phone", whole=False)


def detail(stage):
    """a job has its attempts, its facts and its actions; its post is linked"""
    content = stage.content
    with opened(Console(stage, address=f"job/{content.ready['job']['id']}")) as console:
        expect(console.part("Attempts")).to_contain_text("1 of at most 5 attempts")
        expect(console.part("Facts")).to_contain_text("ada")
        expect(console.part("Verdict and decisions")).to_contain_text("The media are sound.")
        console.picture("job")
        console.link("Moment by ada").click()
        console.drawn("post")
        author, [scheduled] = list_of(stage, "scheduled")
        console.go(f"job/{scheduled}")
        console.button("Cancel").click()
        console.answer("Cancel the job")
        console.says("The job is cancelled.")
        expect(console.main.locator(".post-head .badge").first).to_have_text("cancelled")


def running(stage):
    """a job that runs shows its progress, then its verdict"""
    content = stage.content
    posts = [content.moment(content.new("running"), waits=False) for _ in range(3)]
    with opened(Console(stage, address=f"job/{posts[-1]['job']['id']}")) as console:
        expect(console.main.locator(".job-progress progress")).to_be_visible()
        expect(console.main.locator(".post-head .badge").first).to_have_text("completed")
        expect(console.part("Verdict and decisions")).to_contain_text("The media are sound.")


def quarantine(stage):
    """quarantined media are shown with their crash, and are released after a question"""
    hash = stage.content.quarantine()
    with opened(Console(stage, address="jobs?tab=quarantine")) as console:
        card = console.part(f"Quarantined clip {hash[:12]}")
        expect(card).to_contain_text("A media process of its own crashed twice on it.")
        expect(card).to_contain_text("SIGSEGV")
        expect(card).to_contain_text(f"take5 quarantine export {hash[:12]}")
        console.picture("quarantine")
        card.get_by_role("button", name="Release…").click()
        console.answer("Release")
        console.says("The media are released.")
        expect(card).to_have_count(0)
        assert not any(each["hash"] == hash for each in stage.content.request("GET", "/v1/operations/quarantine")["items"])


TESTS = (filters, one, many, in_turns, chosen, phone, detail, running, quarantine)
