// Now: what the service does at this moment, read every two seconds: its pace, its queue, its workers, what fails, and which alert
// is next. Each part is `{element, update(facts)}`, and updates its elements in place.

import { judge, remember } from "./alerts.js"
import { bars, lines, meter, spark, waterfall } from "./charts.js"
import { readMetrics } from "./metrics.js"
import { alerts, deaths, longest, put, rejections, sum, workers } from "./nowlists.js"
import { bytes, count, counted, exactly, h, icon, seconds, section, show } from "./ui.js"

const minute = 60_000, hour = 60 * minute
const samples = []  // of the queue, while the page is open, for an hour
const kinds = ["post", "look", "image", "reprocess", "window", "webhook"]
const outcomes = { accepted: 3, rejected: 2, cancelled: 5, dead: 4 }

export default async function (main, { app, signal }) {
  if (!app.session.can("admin")) return visitor(main, app, signal)
  const facts = { operations: null, metrics: null, longest: null }
  const parts = [alarm(app), tiles(app), ...charts(), stages(), workers(app), longest(app), rejections(app), deaths(app), alerts()]
  const at = h("span", { class: "quiet" }, "Reading…")
  show(main, h("div", { class: "row now-head" }, h("h1", {}, "Now"), at), parts[0].element, parts[1].element,
    h("div", { class: "grid now-grid" }, parts.slice(2, -3).map(part => part.element),
      // What failed is one column: a card of a line would have a row for itself.
      h("div", { class: "stack" }, parts.slice(-3, -1).map(part => part.element)), parts.at(-1).element))
  const draw = () => {
    facts.alerts = judge(facts)
    parts.forEach(part => part.update(facts))
  }
  const soon = () => AbortSignal.any([signal, AbortSignal.timeout(10_000)])
  let deep = 0
  app.every(2, signal, async () => {
    facts.operations = await app.api.get("/v1/operations", {}, { signal: soon() })
    note(facts.operations)
    put(at, `as of ${exactly(facts.operations.at)}`)
    draw()
    if (Date.now() - deep < 10_000) return
    deep = Date.now()
    const since = new Date(Date.parse(facts.operations.at) - hour).toISOString()
    const [metrics, waiting, dead] = await Promise.allSettled([readMetrics(soon()), oldest(app, facts.operations, soon()),
      app.api.get("/v1/jobs", { state: "dead", finished_after: since, limit: 100 }, { signal: soon() })])
    if (signal.aborted) return
    facts.metrics = metrics.value ?? null
    facts.isUnreadable = !facts.metrics
    facts.dead = dead.value?.items ?? facts.dead
    facts.longest = waiting.value ?? facts.longest
    if (facts.metrics) remember(facts.metrics)
    draw()
  })
}

/** Keeps the state of the queue for the charts that grow. */
function note({ at, queues }) {
  const of = state => queues.filter(each => each.state === state)
  const jobs = state => sum(of(state), "jobs")
  samples.push({ at: Date.parse(at), waiting: jobs("available"), running: jobs("executing"), later: jobs("scheduled"),
    age: Math.max(0, ...of("available").map(each => each.oldest_seconds ?? 0)) })
  while (samples[0].at < Date.parse(at) - hour) samples.shift()
}

/** The oldest waiting jobs of the three queues that wait longest. Lists are newest first, so each list begins where the oldest are. */
async function oldest(app, { at, queues }, signal) {
  const groups = queues.filter(each => each.state === "available" && each.jobs > 0).sort((a, b) => b.oldest_seconds - a.oldest_seconds).slice(0, 3)
  return Promise.all(groups.map(async ({ queue, kind, jobs, oldest_seconds: age }) => {
    const before = new Date(Date.parse(at) - age * 1000 + 1000).toISOString()
    const { items } = await app.api.get("/v1/jobs", { state: "available", queue, kind, created_before: before, limit: 20 }, { signal })
    const since = job => Date.parse(job.run_at ?? job.created_at)
    return { queue, kind, jobs, since: Date.parse(at) - age * 1000, job: items.sort((a, b) => since(a) - since(b))[0] }
  }))
}

// MARK: Tiles

/** Where the records are that an alert is about; empty where only the log or Prometheus has them. */
function isAbout(name, app) {
  const waiting = ["jobs", { state: "available" }], running = ["jobs", { state: "executing" }]
  const views = { Take5JobsDead: ["jobs", { state: "dead" }], Take5JobsWaiting: waiting, Take5WaitLong: waiting, Take5QueuePaused: waiting,
    Take5NoWorker: waiting, Take5ReadySlow: running, Take5WorkerLost: running, Take5LeasesLost: running, Take5StorageLow: ["store"],
    Take5BlobsDamaged: ["store"], Take5Quarantined: ["jobs", { tab: "quarantine" }] }
  return views[name] ? app.address(...views[name]) : ""
}

function alarm(app) {
  const link = h("a"), name = h("b", {}, link), words = h("p"), level = meter(), label = h("span", {}, "Next alert"), sign = h("div", { class: "sign" })
  const element = h("div", { class: "tile alarm" }, sign, h("div", {}, label, name, words), level)
  let last = ""
  return { element, update(facts) {
    const [first] = facts.alerts, firing = facts.alerts.filter(each => each.state === "fires").length
    const tone = first.state === "fires" ? "bad" : first.state === "soon" || first.nearness > 0.75 ? "wait" : "good"
    const isCalm = first.state === "unknown" || first.state === "calm" && !first.nearness
    put(label, firing ? `${counted(firing, "alert")} ${firing === 1 ? "fires" : "fire"}` : "The next alert that would fire")
    const about = isCalm ? "" : isAbout(first.name, app)
    put(link, isCalm ? "None is near" : first.name)
    if (!about) link.removeAttribute("href")
    else if (link.getAttribute("href") !== about) link.setAttribute("href", about)
    put(words, isCalm ? "Every rule is far from its threshold." : `${first.words}.${first.state === "calm" ? "" : ` ${first.help}`}`)
    level.update(first.nearness, tone)
    if (last !== tone) show(sign, icon(tone === "good" ? "done" : "warning"))
    last = element.dataset.tone = tone
  } }
}

function tile(label, href, extra) {
  const value = h("b", {}, "–"), words = h("small")
  const element = h(href ? "a" : "div", { class: "tile", href }, h("span", {}, label), value, words, extra)
  return { element, set(text, below = "", tone = "") {
    put(value, text)
    put(words, below)
    value.className = tone
  } }
}

function tiles(app) {
  const rate = spark()
  const pace = tile("Moments a minute", app.address("moments"), rate), waits = tile("Jobs waiting", app.address("jobs", { state: "available" }))
  const age = tile("Oldest wait", app.address("jobs", { state: "available" })), look = tile("To the first look"), ready = tile("To ready")
  const failures = tile("Failures of the last hour", app.address("moments", { tab: "feed", status: "rejected" }))
  const dead = tile("Dead jobs", app.address("jobs", { state: "dead" })), space = tile("Free space", app.address("store"))
  const all = [pace, waits, age, look, ready, failures, dead, space]
  return { element: h("div", { class: "tiles" }, all.map(each => each.element)), update({ operations }) {
    const now = samples.at(-1), made = perMinute(operations, each => each.kind === "post" && each.accepted)
    const lastHour = operations.last_hour.filter(each => each.kind === "post")
    rate.update(made.map(([, number]) => number))
    const recent = made.slice(-6, -1).reduce((total, [, number]) => total + number, 0) / 5
    pace.set(count(Math.round(recent * 10) / 10), `${count(sum(lastHour, "accepted"))} in the last hour`)
    waits.set(count(now.waiting), `${count(now.running)} running, ${count(now.later)} later`)
    const [eldest] = operations.queues.filter(each => each.state === "available").sort((a, b) => b.oldest_seconds - a.oldest_seconds)
    age.set(now.waiting ? seconds(now.age) : "–", now.waiting ? `${eldest.kind} in ${eldest.queue}` : "nothing waits now", now.age > 60 ? "bad" : "")
    const times = kind => operations.times.find(each => each.kind === kind)
    const quick = times("look"), whole = times("post")
    look.set(seconds(quick?.p50_seconds), quick ? `median; 99 % within ${seconds(quick.p99_seconds)}` : "none in the last hour")
    ready.set(seconds(whole?.p50_seconds), whole ? `median; 95 % within ${seconds(whole.p95_seconds)}` : "none in the last hour")
    const rejected = sum(operations.last_hour.filter(each => each.kind !== "look"), "rejected")
    const failed = sum(operations.workers.flatMap(each => each.last_hour), "failed")
    failures.set(count(rejected + failed), `${count(rejected)} rejected, ${counted(failed, "failed attempt")} of the workers that run`)
    const buried = sum(operations.queues.filter(each => each.state === "dead"), "jobs")
    dead.set(count(buried), buried ? "they need you" : "none", buried ? "bad" : "")
    const { free_bytes: free, min_free_bytes: least } = operations.storage ?? {}
    space.set(bytes(free), operations.storage ? `media are refused below ${bytes(least)}` : "not measured here", free < 4 * least ? "bad" : "")
  } }
}

// MARK: Charts

/** The jobs that ended, by minute and kind, dead ones included. A first look that the end of its post overtakes is cancelled: that is no outcome. */
function endings({ at, minutes }, dead = []) {
  const ended = minutes.map(each => ({ ...each, dead: 0, cancelled: each.kind === "look" ? 0 : each.cancelled }))
  const died = dead.filter(each => Date.parse(each.finished_at) > Date.parse(at) - hour)
    .map(({ finished_at, kind }) => ({ at: finished_at, kind, accepted: 0, rejected: 0, cancelled: 0, dead: 1 }))
  return { at, minutes: [...ended, ...died] }
}

/** Since when the last hour is known: since the first job that ended in it, or the first worker that runs. */
const knownSince = ({ minutes }, workers) => Math.min(...[...minutes.map(each => each.at), ...workers.map(each => each.started_at)].map(Date.parse))

/** The numbers of the sixty minutes until now: [[milliseconds, number]]. */
function perMinute({ at, minutes }, number) {
  const last = Math.floor(Date.parse(at) / minute) * minute
  const sums = new Map()
  for (const each of minutes) {
    const start = Math.floor(Date.parse(each.at) / minute) * minute
    sums.set(start, (sums.get(start) ?? 0) + (number(each) || 0))
  }
  return Array.from({ length: 60 }, (_, index) => last - (59 - index) * minute).map(start => [start, sums.get(start) ?? 0])
}

function charts() {
  const empty = { series: [], from: Date.now() - hour, to: Date.now(), label: "Nothing is read yet", empty: "Reading…" }
  let isByKind = false, shown = null
  const jobs = bars({ ...empty, step: minute }), depth = lines({ ...empty }), age = lines({ ...empty, unit: "seconds" })
  const choose = choice => {
    isByKind = choice
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(Boolean(index) === choice)))
    if (shown) drawJobs(shown)
  }
  const buttons = ["by outcome", "by kind"].map((text, index) =>
    h("button", { "aria-pressed": String(!index), onclick: () => choose(Boolean(index)) }, text))

  function drawJobs({ operations, dead }) {
    shown = { operations, dead }
    const ended = endings(operations, dead)
    const all = each => each.accepted + each.rejected + each.cancelled + each.dead
    const [[first]] = perMinute(ended, all)
    // Ten minutes at least, so that a bar stays a bar.
    const from = Math.max(first, Math.min(first + hour - 10 * minute, Math.floor(knownSince(ended, operations.workers) / minute) * minute))
    const named = isByKind
      ? [...new Set([...kinds, ...ended.minutes.map(each => each.kind)])]
        .map((kind, index) => [kind, each => each.kind === kind && all(each), index % 6 + 1])
      : Object.entries(outcomes).map(([outcome, colour]) => [outcome, each => each[outcome], colour])
    const series = named.map(([name, number, colour]) => ({ name, colour, points: perMinute(ended, number).filter(([start]) => start >= from) }))
      .filter(({ points }) => points.some(([, number]) => number))
    const total = sum(ended.minutes.map(each => ({ jobs: all(each) })), "jobs")
    const parts = series.map(({ name, points }) => `${count(points.reduce((number, point) => number + point[1], 0))} ${name}`).join(", ")
    jobs.update({ series, step: minute, from, to: first + hour, empty: "No jobs ended in the last hour.",
      label: `Jobs by minute over the last hour: ${count(total)} in all${parts && `, ${parts}`}.` })
  }

  function grow() {
    const last = samples.at(-1), from = samples[0].at, to = Math.max(last.at, from + 10_000)
    const points = name => samples.map(each => [each.at, each[name]])
    const series = [["waiting", 5], ["running", 1], ["later", 4]].map(([name, colour]) => ({ name, colour, points: points(name) }))
    depth.update({ series, from, to, gap: 15_000,
      label: `Jobs in the queue while the page is open: now ${last.waiting} waiting, ${last.running} running, ${last.later} later.` })
    const most = Math.max(...samples.map(each => each.age))
    age.update({ series: [{ name: "oldest wait", colour: 2, points: points("age") }], from, to, gap: 15_000, unit: "seconds",
      label: `Wait of the oldest job while the page is open: now ${seconds(last.age)}, at most ${seconds(most)}.` })
  }

  const first = section("Jobs by minute", h("div", { class: "row" }, buttons), jobs)
  first.classList.add("wide")
  return [{ element: first, update: facts => drawJobs(facts) }, { element: section("Jobs in the queue", depth), update: grow },
    { element: section("Wait of the oldest job", age), update() {} }]
}

function stages() {
  const name = "take5_stage_duration_seconds"
  const chart = waterfall({ groups: [], label: "Stages of an attempt" }), words = h("p", { class: "empty" }, "Reading…")
  const order = ["fetch", "probe", "compose", "photo", "publish", "commit"]
  return { element: section("Stages of an attempt", words, chart), update({ metrics, isUnreadable }) {
    if (!metrics) return void (isUnreadable && put(words, "The metrics of the service cannot be read."))
    const groups = metrics.values(`${name}_count`, "kind").map(kind => {
      const of = Object.entries(metrics.histograms(name, "stage", { kind })).filter(([, each]) => each.count)
        .map(([stage, each]) => ({ name: stage, seconds: each.sum / each.count, count: each.count }))
        .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
      const attempts = Math.max(0, ...of.map(each => each.count))
      return { name: kind, attempts, stages: of, note: `${counted(attempts, "attempt")}, ${seconds(sum(of, "seconds"))}` }
    }).filter(each => each.attempts).sort((a, b) => b.attempts - a.attempts).slice(0, 4)
    put(words, groups.length ? "Means since the start of the process that serves this page."
      : "No attempt has ended yet in the process that serves this page. Other workers have metrics of their own.")
    const parts = groups.map(each => `${each.name} ${seconds(sum(each.stages, "seconds"))}`).join(", ")
    chart.update({ groups, label: `Stages of an attempt, mean: ${parts || "none yet"}` })
  } }
}

// MARK: Without the scope

/** What a sign-in without the scope `admin` sees: whether submissions are accepted, and what is missing. */
function visitor(main, app, signal) {
  const state = tile("Submissions")
  const has = app.session.scopes.map(scope => `‘${scope}’`).join(", ") || "no scopes"
  show(main, h("h1", {}, "Now"), h("div", { class: "stack" }, h("div", { class: "tiles" }, state.element), section("What is missing here",
    h("p", {}, `The jobs, the workers and the alerts need the scope ‘admin’. This sign-in (${app.session.name ?? "without a name"}) has ${has}.`),
    h("p", {}, "The other views show what these scopes permit."))))
  app.every(10, signal, async () => {
    const response = await fetch("/readyz", { signal })
    const body = response.ok ? null : await response.json().catch(() => ({}))
    state.set(response.ok ? "accepted" : "refused", body?.title ?? "the service is ready", response.ok ? "good" : "bad")
  })
}
