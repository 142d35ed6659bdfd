// The jobs: a filter that lives in the address, a list of any length, changes of one or many jobs, and the quarantine.

import { LongList } from "./longlist.js"
import { ask, isRefusal, lacking, localTime, maxRows, paused, tabs, utcTime, watch } from "./parts.js"
import {
  action, badge, brief, bytes, command, confirm, count, counted, exactly, facts, failure, field, h, id as short, percent, seconds, show, storeNote, time, toast,
} from "./ui.js"

const states = ["scheduled", "available", "executing", "completed", "cancelled", "dead"]
const kinds = ["post", "image", "window", "forget", "reprocess", "attribution"]
const texts = ["queue", "kind", "author", "error", "created_after", "created_before", "finished_after", "finished_before"]

const columns = [
  { name: "id", title: "Job" }, { name: "kind", title: "Kind" }, { name: "state", title: "State" }, { name: "author", title: "Author" },
  { name: "attempt", title: "Attempt" }, { name: "lost", title: "Lost" }, { name: "age", title: "Age" }, { name: "took", title: "Took" },
  { name: "error", title: "Error" }, { name: "actions", title: "Change" },
]

const changes = {
  retry: {
    word: "Retry", done: "retried", permits: job => job.state === "dead" || job.state === "scheduled",
    meaning: "A dead job starts with its first attempt, one that waits runs now. Posts of these jobs are processing again.",
  },
  cancel: {
    word: "Cancel", done: "cancelled", permits: job => ["scheduled", "available", "executing"].includes(job.state),
    meaning: "Waiting jobs end at once, running ones with their next heartbeat. Their posts have then failed, until a run of reprocessing.",
  },
}

/** The jobs that one request changes at most. */
const batch = 10_000

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
  #pages = null
  #next = null
  #isLoading = false
  #failure = null
  #turn = null
  #problem = h("div")
  #status = h("p", { class: "quiet", role: "status" })
  #fresh = h("button", { class: "primary long-fresh", hidden: true, onclick: () => this.#restart() })
  #empty = h("div", { class: "empty long-empty", hidden: true })
  #chosen = h("div", { class: "row", hidden: true })
  #progress = h("div", { class: "row", hidden: true })
  #counts = new Map()
  #waiting = []

  constructor(app, signal, query) {
    this.#app = app
    this.#signal = signal
    this.#filter = { state: query.getAll("state"), id: query.getAll("id") }
    for (const name of texts) if (query.get(name)) this.#filter[name] = query.get(name)
    this.#list = new LongList({
      label: "Jobs, newest first", columns, signal, cells: job => this.#cells(job), onopen: job => app.go(`job/${job.id}`),
      onnear: () => this.#more(), onchoose: () => this.#showChosen(),
    })
  }

  start(body) {
    show(body, this.#form(), h("div", { class: "row spread" }, this.#status, this.#bulkButtons()), this.#progress, this.#chosen, this.#problem,
      h("div", { class: "long-frame jobs" }, this.#fresh, this.#list.element, this.#empty),
      h("p", { class: "quiet keys" }, h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " ", h("kbd", {}, "Home"), " ", h("kbd", {}, "End"), " move, ",
        h("kbd", {}, "Enter"), " opens, ", h("kbd", {}, "Space"), " chooses."))
    this.#signal.addEventListener("abort", () => {
      left = { address: this.#address(), items: this.#list.items, next: this.#next, isWhole: this.#list.isWhole, place: this.#list.place }
    })
    if (left?.address === this.#address() && left.items.length) this.#restore(left)
    else this.#restart()
    this.#app.every(5, this.#signal, () => this.#refresh())
    this.#app.every(15, this.#signal, () => this.#readCounts())
  }

  // MARK: The filter

  #address() { return this.#app.address("jobs", this.#filter) }

  #form() {
    const set = (name, value) => {
      this.#filter[name] = value
      history.replaceState(null, "", this.#address())
      this.#restart()
    }
    const later = (name, read) => {
      const take = paused(300, this.#signal, set)
      return event => take(name, read(event.target.value))
    }
    const text = (label, name, others = {}) => field({
      label, name, value: this.#filter[name] ?? "", autocomplete: "off", spellcheck: "false", ...others, oninput: later(name, value => value.trim()),
    })
    const at = (label, name) => field({
      label, name, type: "datetime-local", value: localTime(this.#filter[name]), onchange: event => set(name, utcTime(event.target.value)),
    })
    const toggles = states.map(state => {
      const number = h("span", { class: "number" })
      this.#counts.set(state, number)
      return h("button", { type: "button", class: "toggle", "aria-pressed": `${this.#filter.state.includes(state)}`, onclick: event => {
        const isOn = !this.#filter.state.includes(state)
        event.currentTarget.setAttribute("aria-pressed", `${isOn}`)
        set("state", isOn ? [...this.#filter.state, state] : this.#filter.state.filter(each => each !== state))
      } }, state, number)
    })
    const times = ["created_after", "created_before", "finished_after", "finished_before"]
    return h("form", { class: "card filter", "aria-label": "Filter", onsubmit: event => event.preventDefault() },
      h("div", { class: "row", role: "group", "aria-label": "States" }, toggles),
      h("div", { class: "form-row" }, text("Kind", "kind", { list: "job-kinds" }), text("Queue", "queue", { list: "job-queues" }),
        text("Author", "author"), text("Error has", "error"), field({
          label: "Id", name: "id", value: this.#filter.id.join(" "), autocomplete: "off", spellcheck: "false",
          oninput: later("id", value => value.split(/[\s,]+/).filter(Boolean)),
        })),
      h("details", { open: times.some(name => this.#filter[name]) }, h("summary", {}, "Times"), h("div", { class: "form-row" },
        at("Created from", times[0]), at("Created before", times[1]), at("Finished from", times[2]), at("Finished before", times[3]))),
      h("datalist", { id: "job-kinds" }, kinds.map(kind => h("option", { value: kind }))), h("datalist", { id: "job-queues" }))
  }

  /** Shows how many jobs there are in each state; they are an addition, so the list does without them. */
  async #readCounts() {
    const { queues } = await this.#app.api.get("/v1/operations", {}, { signal: this.#signal, retries: 0 }).catch(error => {
      if (isRefusal(error)) return { queues: [] }
      throw error
    })
    for (const [state, element] of this.#counts) {
      const rows = queues.filter(row => row.state === state)
      element.textContent = rows.length ? count(rows.reduce((sum, row) => sum + row.jobs, 0)) : ""
    }
    for (const [list, names] of [["#job-queues", queues.map(row => row.queue)], ["#job-kinds", [...kinds, ...queues.map(row => row.kind)]]]) {
      const options = document.querySelector(list)
      const wanted = [...new Set(names)]
      if (options && options.children.length !== wanted.length) show(options, wanted.map(name => h("option", { value: name })))
    }
  }

  // MARK: The list

  #open(cursor) {
    this.#turn?.abort()
    this.#turn = new AbortController()
    const query = { ...this.#given(), limit: 100, ...cursor && { cursor } }
    this.#pages = this.#app.api.list("/v1/jobs", query, { signal: AbortSignal.any([this.#signal, this.#turn.signal]) }).pages()
  }

  /** The parts of the filter that have a value. */
  #given(filter = this.#filter) {
    return Object.fromEntries(Object.entries(filter).filter(([, value]) => value?.length))
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
    if (isFree && this.#filter.state.join() === "dead") this.#list.enter()
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
    const isFiltered = texts.some(name => this.#filter[name]) || this.#filter.state.length || this.#filter.id.length
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
      inSight.length ? read({ id: inSight.slice(0, 100).map(job => job.id) }) : { items: [] }, read(this.#given()),
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
      Object.entries(changes).filter(([, { permits }]) => permits(job)).map(([name, { word }]) => action(this.#app, {
        label: word, class: "small", scopes: ["admin"], run: () => this.#change(job, name),
      })),
    ]
  }

  // MARK: Changes

  async #change(job, name) {
    const { done, meaning } = changes[name]
    const question = { title: `Cancel this job of the kind ‘${job.kind}’?`, text: meaning, action: "Cancel the job", isDangerous: true }
    if (name === "cancel" && !await confirm(question)) return
    this.#list.replace([await this.#app.api.post(`/v1/jobs/${job.id}/${name}`)])
    return `The job is ${done}.`
  }

  #bulkButtons() {
    const run = name => () => this.#changeAll(name)
    return h("div", { class: "row" },
      action(this.#app, { label: "Retry all of the filter…", class: "small", scopes: ["admin"], run: run("retry") }),
      action(this.#app, { label: "Cancel all of the filter…", class: "small", scopes: ["admin"], run: run("cancel") }))
  }

  /** Changes what the filter finds, after the service has counted it. */
  async #changeAll(name) {
    const { word, done, meaning } = changes[name]
    const { id, finished_after, finished_before, ...others } = this.#filter
    if (id.length || finished_after || finished_before) {
      throw new Error("Changes of all jobs do not go by the id or the time of the end: remove these from the filter, or choose jobs in the list.")
    }
    const filter = this.#given(others)
    const send = others => this.#app.api.post("/v1/operations/jobs", { action: name, filter, ...others })
    // The jobs that are counted now change, and no job that comes later.
    const { matched, changed, remaining, before } = await send({ limit: null, dry_run: true })
    const all = changed + (remaining ?? 0)
    const says = `This would ${name} ${count(all)} of ${counted(matched, "job")}.`
    if (!all) return void toast(`${says} Nothing is changed.`, "bad")
    const agreed = await confirm({
      title: `${word} ${counted(all, "job")}?`, text: says, action: `${word} ${counted(all, "job")}`, isDangerous: name === "cancel",
      details: [facts(this.#words(filter)), h("p", { class: "quiet" }, meaning)],
    })
    if (!agreed) return
    const number = await this.#changeInTurns(all, limit => send({ limit, dry_run: false, before }), done)
    await this.#refresh().catch(() => {})
    return `${counted(number, "job")} of ${count(all)} ${number === 1 ? "is" : "are"} ${done}.`
  }

  /** Sends one request after the other until all jobs are changed, and says how far it is. A request that was sent is not given up: the service
   *  would go on with it. The button, and another view, stop before the next one. Returns the number of changed jobs. */
  async #changeInTurns(all, send, done) {
    const words = h("strong", { role: "status" })
    const stop = new AbortController()
    const end = h("button", { class: "small", onclick: () => { stop.abort(); end.disabled = true } }, "Stop")
    const signal = AbortSignal.any([this.#signal, stop.signal])
    show(this.#progress, words, h("progress", { max: `${all}`, value: 0, "aria-label": "Changed jobs" }), end)
    this.#progress.hidden = false
    let changed = 0
    try {
      for (let isOver = false; !isOver && !signal.aborted;) {
        words.textContent = `${count(changed)} of ${counted(all, "job")} ${done}`
        this.#progress.querySelector("progress").value = changed
        const answer = await send(Math.min(batch, all - changed))
        changed += answer.changed
        isOver = !answer.remaining || !answer.changed || changed >= all
      }
    } catch (error) {
      if (changed) toast(`${counted(changed, "job")} of ${count(all)} ${changed === 1 ? "was" : "were"} ${done} before it failed.`, "bad")
      throw error
    } finally {
      this.#progress.hidden = true
    }
    return changed
  }

  #words(filter) {
    if (!Object.keys(filter).length) return { "The filter": "all jobs" }
    return Object.fromEntries(Object.entries(filter).map(([name, value]) =>
      [name.replace("_", " "), name.startsWith("created") ? exactly(value) : [value].flat().join(", ")]))
  }

  #showChosen() {
    const jobs = this.#list.chosen
    this.#chosen.hidden = !jobs.length
    if (!jobs.length) return
    const words = h("strong", { role: "status" }, `${counted(jobs.length, "job")} chosen`)
    show(this.#chosen, words, Object.entries(changes).map(([name, { word, permits }]) => {
      const able = jobs.filter(permits)
      return action(this.#app, {
        label: `${word} ${count(able.length)}`, class: "small", scopes: ["admin"],
        why: able.length ? null : `None of them can be ${changes[name].done}.`, run: () => this.#changeChosen(name, jobs, able),
      })
    }), h("button", { class: "small", onclick: () => this.#list.chooseNone() }, "Choose none"))
  }

  /** Changes the chosen jobs one by one, four at a time. */
  async #changeChosen(name, jobs, able) {
    const { word, done, meaning } = changes[name]
    const agreed = await confirm({
      title: `${word} ${counted(able.length, "job")}?`, action: `${word} ${counted(able.length, "job")}`, isDangerous: name === "cancel",
      text: `This would ${name} ${count(able.length)} of ${counted(jobs.length, "job")}.`, details: h("p", { class: "quiet" }, meaning),
    })
    if (!agreed) return
    const rest = [...able]
    const failures = []
    let changed = 0
    const work = async () => {
      for (let job = rest.shift(); job && !this.#signal.aborted; job = rest.shift()) {
        try {
          this.#list.replace([await this.#app.api.post(`/v1/jobs/${job.id}/${name}`)])
          changed += 1
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all([work(), work(), work(), work()])
    this.#list.chooseNone()
    if (failures.length) toast(`${counted(failures.length, "job")} not ${done}: ${failures[0].detail ?? failures[0].message}`, "bad")
    return `${counted(changed, "job")} of ${count(able.length)} ${changed === 1 ? "is" : "are"} ${done}.`
  }
}

// MARK: The quarantine

const codes = {
  decoder_crashed: "A media process of its own crashed twice on it.", memory_limit_exceeded: "It exceeded the memory limit of a media process twice.",
  deadline_exceeded: "It exceeded the deadline of a media process twice.",
}

function quarantine(body, app, signal) {
  const list = h("div", { class: "grid" }, h("p", { class: "empty" }, "Loading…"))
  let shown = null
  show(body, h("p", { class: "quiet" }, "Media on which a media process ended twice by itself. ",
    "The same bytes are refused in any post or image until you release them."), list)
  const read = async () => {
    const { items } = await app.api.get("/v1/operations/quarantine", {}, { signal, retries: 0 })
    if (JSON.stringify(items) === shown) return
    shown = JSON.stringify(items)
    show(list, items.length ? items.map(item => quarantined(app, item, read))
      : h("p", { class: "empty" }, "Nothing is quarantined. That is how it should be."))
  }
  watch(app, 5, signal, list, read)
}

function quarantined(app, item, read) {
  const name = item.hash.slice(0, 12)
  return h("section", { class: "card", "aria-label": `Quarantined ${item.kind} ${name}` },
    h("div", { class: "row spread" }, h("h2", {}, item.kind, " ", short(item.hash)), h("span", { class: "badge bad" }, item.code)),
    h("p", {}, codes[item.code] ?? "A media process ended on it twice."),
    facts({
      Stage: item.stage, Signal: item.signal, Crashes: count(item.crashes), "First time": time(item.first_at), "Last time": time(item.last_at),
      Quarantined: time(item.quarantined_at), "Last error": item.error && h("code", {}, item.error),
      Files: h("ul", { class: "plain" }, item.files.map(file =>
        h("li", {}, `${file.role.replace("source.", "")}, ${bytes(file.bytes)} `, short(file.hash)))),
    }),
    h("h3", {}, "Repeat the crash elsewhere"),
    h("p", { class: "quiet" }, "It writes the files, the definition and the facts to a folder, and prints the command that repeats the crash."),
    command(`take5 quarantine export ${name} --to crash-${name.slice(0, 8)}`), command(`take5 quarantine show ${name}`), storeNote(),
    h("div", { class: "buttons" }, action(app, { label: "Release…", class: "danger", scopes: ["admin"], run: () => release(app, item, read) })))
}

async function release(app, item, read) {
  const agreed = await ask({
    title: "Release these media?", action: "Release", isDangerous: true,
    text: "The same bytes may be submitted again, and media processes decode them again. Their files are removed unless a post refers to them.",
    content: [
      h("p", {}, "Do it when the library that crashed on them is repaired, or when the limits were too low. Export the files before, to keep them."),
      h("p", {}, "Posts that still have their sources are then judged again by"), command(`take5 reprocess --rejected --reason ${item.code}`), storeNote(),
    ],
  })
  if (!agreed) return
  await app.api.delete(`/v1/operations/quarantine/${item.hash}`)
  await read()
  return "The media are released."
}
