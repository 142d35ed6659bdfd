"""Views that are left open: they keep their size, however much comes in."""

from console import Console, opened

# A list that grows: the newest page of so many items, and what has come since.
GROWING = """
let last = 0
const turns = []
const grow = number => { last += number }
const page = (make, size, from = last) => {
    const items = Array.from({ length: Math.min(size, from) }, (_, index) => make(from - index))
    return { items, next: from > size ? String(from - size) : null, included: null }
}
const app = make => {
    const read = async (path, query = {}) => path === "/v1/operations" ? { queues: [] }
        : page(make, query.limit, query.cursor ? Number(query.cursor) : last)
    const list = (path, query) => ({ pages() {
        let cursor = query.cursor ?? `${last}`
        return { [Symbol.asyncIterator]() { return this }, async next() {
            if (!cursor) return { done: true }
            const value = page(make, query.limit, Number(cursor))
            cursor = value.next
            return { value, done: false }
        } }
    } })
    return { api: { get: read, list }, session: { can: () => true }, address: path => `#/${path}`, failed(error) { throw error },
        every(seconds, signal, body) { turns.push(body); body() } }
}
const turn = async () => { for (const body of turns) await body(); await new Promise(requestAnimationFrame) }
const main = document.querySelector("#main")
const { signal } = new AbortController()
"""


def run(stage, script):
    """Runs a script in the console, whose view it may replace; returns its value."""
    with opened(Console(stage, address="people?tab=window")) as console:
        return console.page.evaluate(f"async () => {{ {GROWING} {script} }}")


def live_list(stage):
    """a list that reads itself again has one page, and at most 500 rows after the button has added others"""
    result = run(stage, """
        const { liveList } = await import("/console/parts.js")
        const item = number => ({ id: `${number}` })
        const row = ({ id }) => Object.assign(document.createElement("li"), { textContent: id })
        grow(1000)
        const list = liveList(app(item), signal, { path: "/v1/things", seconds: 5, row })
        main.replaceChildren(list.element)
        const rows = () => list.element.querySelectorAll("li").length
        const counts = []
        for (let round = 0; round < 20; round++) { grow(30); await turn(); counts.push(rows()) }
        list.element.querySelector(".more").click()
        await turn()
        const more = rows(), most = []
        for (let round = 0; round < 40; round++) { grow(30); await turn(); most.push(rows()) }
        const [first, bottom] = [list.element.querySelector("li").textContent, list.element.querySelector("li:last-child").textContent]
        list.element.querySelector(".more").click()
        await turn()
        const ids = [...list.element.querySelectorAll("li")].map(each => Number(each.textContent))
        return { counts: Math.max(...counts), more, most: Math.max(...most), first, last,
            isGapless: ids.every((id, index) => id === ids[0] - index) && ids.length > Number(first) - Number(bottom) + 1 }""")
    assert result["counts"] == 50 and result["more"] == 100 and 100 < result["most"] <= 500, result
    assert result["first"] == str(result["last"]) and result["isGapless"], result


def jobs(stage):
    """the list of jobs that is left open at its top has at most 500 rows, and goes on below them"""
    result = run(stage, """
        const job = number => ({ id: `job-${number}`, kind: "post", queue: "default", state: "completed", author: "ada", attempt: 1,
            max_attempts: 5, lost: 0, error: null, created_at: new Date(number * 1000).toISOString(), started_at: null, finished_at: null })
        grow(1000)
        const { default: draw } = await import("/console/jobs.js")
        const status = () => document.querySelector("#main p[role=status]").textContent
        await draw(main, { app: app(job), query: new URLSearchParams(), signal })
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
        const seen = []
        for (let round = 0; round < 30; round++) {
            grow(90)
            await turn()
            seen.push(Number(/^[\\d,]+/.exec(status())[0].replace(",", "")))
        }
        const newest = main.querySelector(".long-room [data-key]").dataset.key
        return { most: Math.max(...seen), newest, last }""")
    assert 300 < result["most"] <= 500 and result["newest"] == f"job-{result['last']}", result


def feed(stage):
    """the feed shows the new posts of more than one page of changes, and asks to be loaded again when it is far behind"""
    result = run(stage, """
        const post = number => ({ id: `post-${number}`, author: "ada", kind: "marker", status: "ready", visibility: "public", counts: {},
            title: `${number}`, caption: null, created_at: new Date(number * 1000).toISOString(), updated_at: new Date(number * 1000).toISOString() })
        grow(40)
        const own = app(post)
        const { default: draw } = await import("/console/feed.js")
        await draw(main, { app: own, query: new URLSearchParams(), signal, remember() {} })
        await turn()
        const button = main.querySelector(".feed-new"), said = []
        for (const number of [60, 30, 30]) { grow(number); await turn(); said.push(button.textContent) }
        const before = main.querySelectorAll("article").length
        button.click()
        await turn()
        await turn()
        return { said, before, isHidden: button.hidden, first: main.querySelector("article").dataset.post, last }""")
    assert result["said"] == ["60 new", "90 new", "Many new: load again"] and result["before"] <= 48, result
    assert result["isHidden"] and result["first"] == f"post-{result['last']}", result


TESTS = (live_list, jobs, feed)
