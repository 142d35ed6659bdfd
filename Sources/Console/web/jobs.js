// The jobs: what the filter finds, as a list of any length, and the quarantine.

import { JobChanges } from "./jobchanges.js"
import { JobFilter } from "./jobfilter.js"
import { LongList } from "./longlist.js"
import { isRefusal, lacking, maxRows, tabs } from "./parts.js"
import { quarantine } from "./quarantine.js"
import { badge, brief, count, counted, exactly, failure, h, id as short, percent, seconds, show } from "./ui.js"

const columns = [
  { name: "id", title: "Job" }, { name: "kind", title: "Kind" }, { name: "state", title: "State" }, { name: "author", title: "Author" },
  { name: "attempt", title: "Attempt" }, { name: "lost", title: "Lost" }, { name: "age", title: "Age" }, { name: "took", title: "Took" },
  { name: "error", title: "Error" }, { name: "actions", title: "Change" },
]

/** What the view had when it was left: who comes back finds the same place. */
let left = null

export default async function (main, { app, query, signal }) {
  const isQuarantine = query.get("tab") === "quarantine"
  const body = h("div", { class: "stack" })
  show(main, h("h1", {}, "Jobs"), tabs(app, "jobs", isQuarantine ? "quarantine" : "", [["", "Jobs"], ["quarantine", "Quarantine"]]), body)
  const missing = lacking(app, ["admin"])
  if (missing) return show(body, missing)
  if (isQuarantine) return quarantine(body, app, signal)
  new Jobs(app, signal, query).start(body)
}

class Jobs {
  #app
  #signal
  #filter
  #list
  #changes
  #pages = null
  #next = null
  #isLoading = false
  #failure = null
  #turn = null
  #problem = h("div")
  #status = h("p", { class: "quiet", role: "status" })
  #fresh = h("button", { class: "primary long-fresh", hidden: true, onclick: () => this.#restart() })
  #empty = h("div", { class: "empty long-empty", hidden: true })
  #waiting = []

  constructor(app, signal, query) {
    this.#app = app
    this.#signal = signal
    this.#filter = new JobFilter(app, signal, query)
    this.#list = new LongList({
      label: "Jobs, newest first", columns, signal, cells: job => this.#cells(job), onopen: job => app.go(`job/${job.id}`),
      onnear: () => this.#more(), onchoose: () => this.#changes.showChosen(),
    })
    this.#changes = new JobChanges(app, signal, { filter: this.#filter, list: this.#list, onchange: () => this.#refresh() })
  }

  start(body) {
    show(body, this.#filter.form(() => this.#restart()), h("div", { class: "row spread" }, this.#status, this.#changes.ofAll()),
      this.#changes.progress, this.#changes.chosen, this.#problem,
      h("div", { class: "long-frame jobs" }, this.#fresh, this.#list.element, this.#empty),
      h("p", { class: "quiet keys" }, h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " ", h("kbd", {}, "Home"), " ", h("kbd", {}, "End"), " move, ",
        h("kbd", {}, "Enter"), " opens, ", h("kbd", {}, "Space"), " chooses."))
    this.#signal.addEventListener("abort", () => {
      left = { address: this.#filter.address, items: this.#list.items, next: this.#next, isWhole: this.#list.isWhole, place: this.#list.place }
    })
    if (left?.address === this.#filter.address && left.items.length) this.#restore(left)
    else this.#restart()
    this.#app.every(5, this.#signal, () => this.#refresh())
    this.#app.every(15, this.#signal, () => this.#filter.readCounts())
  }

  #open(cursor) {
    this.#turn?.abort()
    this.#turn = new AbortController()
    const query = { ...this.#filter.given, limit: 100, ...cursor && { cursor } }
    this.#pages = this.#app.api.list("/v1/jobs", query, { signal: AbortSignal.any([this.#signal, this.#turn.signal]) }).pages()
  }

  #restart() {
    this.#open(null)
    this.#waiting = []
    this.#finish()
    this.#list.clear()
    this.#showFresh()
    this.#more()
  }

  #restore({ items, next, isWhole, place }) {
    this.#next = next
    this.#open(next)
    this.#finish()
    this.#list.clear()
    this.#list.append(items, isWhole)
    this.#list.place = place
    this.#say()
  }

  async #more() {
    if (this.#isLoading || this.#list.isWhole) return
    const pages = this.#pages
    this.#isLoading = true
    this.#say()
    try {
      const { value, done } = await pages.next()
      if (this.#signal.aborted || pages !== this.#pages) return
      this.#isLoading = false
      this.#next = value?.next ?? null
      const isFirst = !this.#list.items.length
      this.#list.append(value?.items ?? [], done || !value.next)
      if (isFirst) this.#enterDead()
    } catch (error) {
      if (this.#signal.aborted || pages !== this.#pages) return
      if (error.status === 401) return this.#app.failed(error)
      this.#fail(error)
    }
    this.#say()
  }

  /** Who opens the list of dead jobs stands on the first of them, unless the focus is elsewhere already. */
  #enterDead() {
    const isFree = document.activeElement.matches("body, #main")
    if (isFree && this.#filter.given.state?.join() === "dead") this.#list.enter()
  }

  /** Shows a problem. The list counts as loading, so that scrolling does not repeat the request. */
  #fail(error) {
    this.#failure = error
    show(this.#problem, failure(error, () => this.#again()))
  }

  #finish() {
    this.#failure = null
    this.#isLoading = false
    show(this.#problem)
  }

  /** Reads on below the last row, by other pages: failed ones have ended. */
  #again() {
    if (!this.#list.items.length) return this.#restart()
    this.#finish()
    this.#open(this.#next)
    this.#more()
  }

  #say() {
    const { items, isWhole } = this.#list
    const loaded = counted(items.length, "job")
    this.#status.textContent = isWhole ? loaded : this.#failure ? "" : items.length ? `${loaded} loaded; more follow.` : "Loading…"
    this.#empty.hidden = !(isWhole && !items.length)
    if (this.#empty.hidden) return
    const isFiltered = Object.keys(this.#filter.given).length > 0
    show(this.#empty, isFiltered ? ["No job is as the filter says. ", h("a", { href: "#/jobs" }, "Show all jobs")] : "There are no jobs yet.")
  }

  /** Reads the rows in sight again, and new ones above them. The list keeps its place: new rows come in by themselves only at the top. */
  async #refresh() {
    if (this.#failure) return void (isRefusal(this.#failure) || this.#again())
    const { items, isWhole, inSight } = this.#list
    if (!items.length && !isWhole) return
    const pages = this.#pages
    const read = query => this.#app.api.get("/v1/jobs", { ...query, limit: 100 }, { signal: this.#signal, retries: 0 })
    const [seen, newest] = await Promise.all([
      inSight.length ? read({ id: inSight.slice(0, 100).map(job => job.id) }) : { items: [] }, read(this.#filter.given),
    ])
    if (pages !== this.#pages || this.#signal.aborted) return
    if (!items.length) return void (newest.items.length && this.#restart())
    this.#list.replace(seen.items)
    const known = new Set(this.#list.items.map(job => job.id))
    const first = newest.items.findIndex(job => known.has(job.id))
    this.#waiting = first < 0 ? newest.items : newest.items.slice(0, first)
    const isInUse = this.#list.chosen.length > 0 || this.#list.element.contains(document.activeElement)
    if (this.#waiting.length && first >= 0 && this.#list.isAtTop && !isInUse) {
      // A list that is left open begins with the newest page again before it becomes too long.
      if (items.length + this.#waiting.length > maxRows) this.#restore({ ...newest, isWhole: !newest.next, place: { top: 0 } })
      else this.#list.prepend(this.#waiting)
      this.#waiting = []
      this.#say()
    }
    this.#showFresh()
  }

  #showFresh() {
    this.#fresh.hidden = !this.#waiting.length
    this.#fresh.textContent = `${this.#waiting.length > 99 ? "More than 99 new jobs" : counted(this.#waiting.length, "new job")}: show`
  }

  #cells(job) {
    const first = job.error?.split("\n")[0]
    const began = job.started_at && new Date(job.started_at)
    const ended = job.finished_at ? new Date(job.finished_at) : job.state === "executing" ? Date.now() : null
    return [
      h("a", { href: `#/job/${job.id}` }, short(job.id)),
      h("span", { title: job.queue }, job.kind),
      [badge(job.state), job.state === "executing" && h("small", { title: job.stage }, ` ${percent(job.progress)}`),
        job.verdict === "rejected" && h("small", { class: "bad" }, " rejected")],
      job.author ? h("span", { title: job.author }, job.author) : "–",
      `${job.attempt}/${job.max_attempts}`,
      job.lost ? h("strong", { class: "bad" }, count(job.lost)) : "0",
      h("time", { datetime: job.created_at, title: exactly(job.created_at) }, brief(Math.max(0, (Date.now() - new Date(job.created_at)) / 1000))),
      began && ended ? h("span", { title: seconds((ended - began) / 1000) }, brief(Math.max(0, (ended - began) / 1000))) : "–",
      first ? h("span", { title: job.error }, first) : null,
      this.#changes.of(job),
    ]
  }
}
