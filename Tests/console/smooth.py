"""What the console costs: the first view, and a list of ten thousand jobs."""

import statistics

from playwright.sync_api import expect

from console import Console, Page, opened
from content import COLUMNS, id_at
from service import KEY

# The bound of the first view, and that of a frame.
MOST_BYTES, MOST_TIME, MOST_FRAME = 120_000, 400, 50
JOBS = 10_000

# Notes when the first tile has a figure.
DRAWN = """
new MutationObserver((_, observer) => {
  const tile = document.querySelector(".tiles .tile b")
  if (!tile || tile.textContent === "–") return
  observer.disconnect()
  requestAnimationFrame(() => { window.drawnAt = performance.now() })
}).observe(document, { childList: true, subtree: true, characterData: true })
"""

# Records the times between frames, and tasks that block the page.
FRAMES = """
window.frames_ = { times: [], tasks: [] }
new PerformanceObserver(list => list.getEntries().forEach(task => frames_.tasks.push(task.duration))).observe({ type: "longtask" })
let last = performance.now()
requestAnimationFrame(function next(now) {
  frames_.times.push(now - last)
  last = now
  if (!frames_.isOver) requestAnimationFrame(next)
})
"""


def first_view(stage):
    """the first view has few bytes; its time is printed"""
    stage.content.ready
    times = []
    for _ in range(3):
        with opened(Page(stage)) as page:
            page.context.add_init_script(DRAWN)
            page.context.request.post(f"{stage.service.url}/console/session", data={"key": KEY}, headers={"Take5-Console": "1"})
            session = page.context.new_cdp_session(page.page)
            sizes, urls = {}, {}
            session.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
            session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
            session.send("Network.enable")
            session.send("Network.setCacheDisabled", {"cacheDisabled": True})
            page.page.goto(f"{stage.service.url}/console")
            times.append(page.until("() => window.drawnAt"))
            total = {urls[id]: size for id, size in sizes.items()}
            data = sum(size for url, size in total.items() if "/v1/" in url or url.endswith(("/metrics", "/session")))
            files = sum(total.values()) - data
    stage.figure("first.bytes", f"{files:.0f}", MOST_BYTES)
    stage.figure("first.data", f"{data:.0f}")
    stage.figure("first.ms", f"{statistics.median(times):.0f}", MOST_TIME)
    assert any("now.js" in url for url in total) and files <= MOST_BYTES, sorted(total.items(), key=lambda each: -each[1])


def many_jobs(stage):
    """ten thousand jobs scroll smoothly, to the last one"""
    author = "crowd"
    stage.content.sql(
        f"INSERT INTO job_done (id, {COLUMNS}, outcome, started_at, finished_at) SELECT 2000000000 + n, 'post', "
        f"{id_at('20000 - n', 'n')}, 'default', 1::smallint, 5::smallint, 0::smallint, '{author}', "
        f"now() - interval '1 second' * (20000 - n), '{{}}', 'a', now() - interval '1 second' * (19999 - n), "
        f"now() - interval '1 second' * (19995 - n) FROM generate_series(1, {JOBS}) AS n")
    longest, tasks = [], []
    for _ in range(3):
        with opened(Console(stage, address=f"jobs?author={author}")) as console:
            rows = console.main.get_by_role("grid").get_by_role("row")
            expect(rows.nth(5)).to_be_visible()
            box = console.main.locator(".long-body").bounding_box()
            console.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            console.page.evaluate(FRAMES)
            status = console.main.locator("p[role=status]")
            for _ in range(2000):
                console.page.mouse.wheel(0, 900)
                if console.page.evaluate("""(() => {
                    const body = document.querySelector(".long-body"), grid = body.closest("[role=grid]")
                    return grid.ariaRowCount !== "-1" && body.scrollTop + body.clientHeight >= body.scrollHeight - 2
                })()"""):
                    break
            expect(status).to_have_text(f"{JOBS:,} jobs")
            frames = console.page.evaluate("(frames_.isOver = true, frames_)")
            assert console.page.locator(".long-row").count() < 100, "all rows are in the document"
            longest.append(max(frames["times"]))
            tasks.append(max(frames["tasks"], default=0))
    stage.figure("jobs.frame.longest.ms", f"{statistics.median(longest):.0f}", MOST_FRAME)
    stage.figure("jobs.frame.median.ms", f"{statistics.median(frames['times']):.1f}")
    stage.figure("jobs.task.longest.ms", f"{statistics.median(tasks):.0f}")
    stage.content.sql(f"DELETE FROM job_done WHERE author = '{author}'")
    assert statistics.median(longest) <= MOST_FRAME, longest


TESTS = (first_view, many_jobs)
