// Evaluates the alert rules of take5.rules.yml in the browser: how near each is to its threshold, and since when it holds.

import { growth, quantile } from "./metrics.js"
import { bytes, count, counted, percent, seconds } from "./ui.js"

// MARK: Counters of the last minutes

// They outlive the view, so that a return to it finds them.
const past = [], since = new Map()
const service = route => !/^\/(livez|metrics|readyz)$/.test(route)
const read = route => !/^(none|\/v1\/(events|media\/.*|(posts|images|jobs)\/[^/]+)|.*\/(events|export))$/.test(route)

/** Keeps what the rules need of the counters, for a quarter of an hour. */
export function remember(metrics) {
  const requests = "take5_http_requests_total", store = "take5_store_request_duration_seconds_count"
  past.push({ at: Date.now(), figures: {
    leases: metrics.sum("take5_leases_lost_total"),
    pushRefusals: metrics.sum("take5_push_total", { outcome: outcome => outcome === "credentials_refused" }),
    waits: metrics.histograms("take5_job_wait_seconds", "kind", { kind: kind => kind !== "reprocess" }),
    ready: metrics.histograms("take5_time_to_ready_seconds", "kind"),
    reads: { all: metrics.histogram("take5_http_request_duration_seconds", { method: "GET", route: read }) },
    requests: metrics.sum(requests, { route: service }), errors: metrics.sum(requests, { route: service, status: status => status[0] === "5" }),
    stored: metrics.sum(store), unstored: metrics.sum(store, { result: result => /^(failed|refused|throttled|unreachable)$/.test(result) }),
    walls: metrics.by("take5_sandbox_wall", "wall"),
  } })
  while (past[0].at < Date.now() - 930_000) past.shift()
}

function span(minutes) {
  const last = past.at(-1)
  const first = last && past.find(each => each.at >= last.at - minutes * 60_000)
  return first && first !== last ? [last.figures, first.figures] : []
}

/** How much a counter has grown; null before the second reading. */
function grown(name, minutes) {
  const [last, first] = span(minutes)
  return last ? (last[name] < first[name] ? last[name] : last[name] - first[name]) : null
}

/** The highest 95th percentile among histograms by kind; null without observations. */
function slowest(name, minutes) {
  const [last, first] = span(minutes)
  const all = Object.entries(last?.[name] ?? {}).map(([kind, histogram]) => ({ kind, value: quantile(growth(histogram, first[name][kind]), 0.95) }))
  return all.filter(each => each.value !== null).sort((a, b) => b.value - a.value)[0] ?? null
}

// MARK: Rules

const above = (value, limit, format, words) => value === null ? null
  : { nearness: value / limit, holds: value > limit, words: `${words} ${format(value)}, fires above ${format(limit)}` }
const any = (number, words, calm) => ({ nearness: number > 0 ? 1 : 0, holds: number > 0, words: number > 0 ? words : calm })
const share = (part, whole, limit, words) => whole === null ? null : above(whole ? part / whole : 0, limit, percent, words)
const most = numbers => Math.max(0, ...numbers)

// `limit` is the threshold; rules without one hold as soon as there is something at all.
const rules = [
  { name: "Take5DatabaseDown", for: 60, isCritical: true, help: "Start PostgreSQL or repair the network.", judge({ metrics }) {
    const isUp = metrics?.min("take5_database_up") ?? null
    return isUp === null ? null : any(1 - isUp, "the database does not respond", "the database responds")
  } },
  { name: "Take5NoWorker", for: 60, isCritical: true, help: "Start a worker, or the service with --slots above 0.", judge({ operations }) {
    const alive = operations.workers.filter(each => each.is_alive).length
    return any(alive ? 0 : 1, "no worker is alive", `${counted(alive, "worker")} alive, fires at none`)
  } },
  { name: "Take5QueuePaused", for: 120, isCritical: true, help: "The log of the worker names what every job lacks.", judge({ metrics }) {
    const paused = metrics?.select("take5_queue_paused").filter(each => each.value).map(each => each.labels.queue)
    return paused ? any(paused.length, `paused: ${paused.join(", ")}`, "no queue is paused") : null
  } },
  { name: "Take5StorageLow", for: 60, limit: 4, help: "Enlarge the file system, or free space with take5 gc.", judge({ operations, metrics }) {
    const free = operations.storage?.free_bytes ?? metrics?.min("take5_storage_free_bytes") ?? null
    const limit = this.limit * (operations.storage?.min_free_bytes ?? metrics?.max("take5_storage_min_free_bytes") ?? 0)
    return free === null ? null : { nearness: limit / Math.max(free, 1), holds: free < limit,
      words: `${bytes(free)} free, fires below ${bytes(limit)}` }
  } },
  { name: "Take5StoreFailing", for: 120, limit: 0.05, isCritical: true, help: "Check the keys, the clock, the limits and the network of the object store.",
    judge() { return grown("stored", 5) ? share(grown("unstored", 5), grown("stored", 5), this.limit, "failed requests to the object store:") : null } },
  { name: "Take5ServerErrors", for: 120, limit: 0.05, isCritical: true, help: "The body of a 503 names what refuses; of a 500 the log has the error.",
    judge() { return share(grown("errors", 5), grown("requests", 5), this.limit, "requests with a 5xx:") } },
  { name: "Take5RequestsSlow", for: 300, limit: 1, help: "See which route is slow, open transactions and dead rows.",
    judge() { return above(slowest("reads", 5)?.value ?? null, this.limit, seconds, "95 % of the reads take up to") } },
  { name: "Take5JobsWaiting", for: 120, limit: 60, help: "Add slots or machines, or see why the queue is paused.", judge({ operations }) {
    const age = most(operations.queues.filter(each => each.state === "available" && each.queue !== "background").map(each => each.oldest_seconds))
    const said = above(age, this.limit, seconds, "the oldest job has waited for")
    return { ...said, ...age === 0 && { words: `no job waits, fires above ${seconds(this.limit)}` }, held: age - this.limit }
  } },
  { name: "Take5WaitLong", for: 300, limit: 30, help: "Workers are busy: add slots or machines, or see which stage has slowed.", judge() {
    const wait = slowest("waits", 5)
    return above(wait?.value ?? null, this.limit, seconds, `95 % of the jobs (${wait?.kind}) have waited for up to`)
  } },
  { name: "Take5ReadySlow", for: 300, limit: 60, help: "Users wait: compare the waits and the stages, and look for repeated attempts.", judge({ operations }) {
    const recent = slowest("ready", 10)
    if (recent) return above(recent.value, this.limit, seconds, `95 % (${recent.kind}) are ready within`)
    if (!operations.times.length) return null
    return above(most(operations.times.map(each => each.p95_seconds)), this.limit, seconds, "95 % of the last hour were ready within")
  } },
  { name: "Take5JobsDead", for: 60, help: "Remove the cause that the last error names, then retry or cancel.", judge({ operations }) {
    const dead = operations.queues.filter(each => each.state === "dead")
    const jobs = dead.reduce((sum, each) => sum + each.jobs, 0)
    return { ...any(jobs, `${counted(jobs, "dead job")}, fires above none`, "no dead jobs"), held: most(dead.map(each => each.oldest_seconds)) }
  } },
  { name: "Take5WorkerLost", for: 15, help: "Look at its machine; other workers take its jobs.", judge({ operations }) {
    const silent = operations.workers.filter(each => !each.is_alive)
    return { ...any(silent.length, `${counted(silent.length, "worker")} without a heartbeat for the lease`, "each worker sends heartbeats"),
      held: most(silent.map(each => each.beat_age_seconds - (each.lease_seconds ?? 30))) }
  } },
  { name: "Take5LeasesLost", for: 0, limit: 3, help: "Look for killed processes, busy machines, and a job that breaks its workers.",
    judge() { return above(grown("leases", 15), this.limit, count, "jobs that lost their worker within 15 minutes:") } },
  { name: "Take5EventsWaiting", for: 120, limit: 30, help: "See that a worker is alive, and how many announcements wait.", judge({ metrics }) {
    const ages = metrics?.select("take5_events_oldest_age_seconds")
    return ages?.length ? above(most(ages.map(each => each.value)), this.limit, seconds, "the oldest event waits to be passed on for") : null
  } },
  { name: "Take5PushWaiting", for: 120, limit: 60, help: "See whether the provider responds, and which outcomes notifications have.", judge({ metrics }) {
    const ages = metrics?.select("take5_push_oldest_due_seconds")
    return ages?.length ? above(most(ages.map(each => each.value)), this.limit, seconds, "the oldest notification that is due has waited for") : null
  } },
  { name: "Take5PushCredentials", for: 0, isCritical: true, help: "The log of a worker has the provider's reason: mend its credentials.",
    judge() {
      const refused = grown("pushRefusals", 10)
      return refused === null ? null : any(refused, `${counted(refused, "notification")} refused with the credentials within 10 minutes`, "no provider refuses the credentials")
    } },
  { name: "Take5NotListening", for: 60, help: "Look at what stands between the process and its database.", judge({ metrics }) {
    const sessions = metrics?.select("take5_listening")
    const away = sessions?.filter(each => each.value === 0) ?? []
    return sessions?.length ? any(away.length, `not listening: ${away.map(each => each.labels.session).join(", ")}`, "each session listens") : null
  } },
  { name: "Take5ClockWrong", for: 60, limit: 2, help: "Let chrony or systemd-timesyncd set the clocks of this machine and of the database's.", judge({ metrics }) {
    const offsets = metrics?.select("take5_clock_offset_seconds")
    return offsets?.length ? above(most(offsets.map(each => Math.abs(each.value))), this.limit, seconds, "the clocks of this machine and of the database differ by") : null
  } },
  { name: "Take5WebhookFailing", for: 600, help: "See the deliveries of the webhook: each names its error.", judge({ metrics }) {
    const failing = metrics?.max("take5_webhooks_failing") ?? null
    return failing === null ? null : any(failing, `${counted(failing, "webhook")} failing`, "no webhook fails")
  } },
  { name: "Take5RowsSetAside", for: 60, help: "The log of a worker names the rows: correct the value, or start the version that wrote it.", judge({ metrics }) {
    const rows = metrics?.select("take5_rows_set_aside")
    const number = rows?.reduce((sum, each) => sum + each.value, 0)
    return rows?.length ? any(number, `${counted(number, "row")} set aside: ${rows.filter(each => each.value).map(each => each.labels.table).join(", ")}`,
      "no row is set aside") : null
  } },
  { name: "Take5BlobsDamaged", for: 0, isCritical: true, help: "Run take5 verify --deep; sources come from a backup.", judge({ metrics }) {
    const damaged = metrics?.sum("take5_blobs_damaged_total")
    return metrics ? any(damaged, `${counted(damaged, "blob")} damaged`, "no damaged blobs") : null
  } },
  { name: "Take5Quarantined", for: 0, help: "See the quarantine; many after a change of a limit say that it is too low.", judge({ metrics }) {
    const inputs = metrics?.sum("take5_quarantined_total")
    return metrics ? any(inputs, `${counted(inputs, "input")} quarantined`, "nothing was quarantined") : null
  } },
  { name: "Take5WallDown", for: 0, isCritical: true, help: "take5 doctor says what the wall needs.", judge() {
    const walls = past.at(-1)?.figures.walls
    if (!walls?.size) return null
    const fallen = [...walls].filter(([wall, stands]) => !stands && past.some(each => each.figures.walls.get(wall))).map(([wall]) => wall)
    const standing = [...walls.values()].filter(Boolean).length
    return any(fallen.length, `down: ${fallen.join(", ")}`, `${standing} of ${counted(walls.size, "wall")} stand, none fell`)
  } },
  { name: "Take5OldTransaction", for: 60, limit: 300, help: "End the session that the log of a worker names.", judge({ metrics }) {
    const age = metrics?.max("take5_xmin_age_seconds") ?? null
    return above(age, this.limit, seconds, "the oldest transaction is open for")
  } },
]

const order = ["fires", "soon", "calm", "unknown"]

/** The rules as they stand, the nearest first: `{name, state, nearness, words, help, isCritical}`; the state is `fires`, `soon` (it
 *  holds, but not yet for as long as the rule asks), `calm` or `unknown`. `facts` has `operations`, and `metrics` or null. */
export function judge(facts) {
  const judged = rules.map(rule => {
    const found = rule.judge(facts)
    if (!found) return { ...rule, state: "unknown", nearness: 0, words: "nothing is measured yet in this process" }
    if (!found.holds) since.delete(rule.name)
    else if (!since.has(rule.name)) since.set(rule.name, Date.now())
    const held = found.holds ? Math.max((Date.now() - since.get(rule.name)) / 1000, found.held ?? 0) : 0
    const state = !found.holds ? "calm" : held >= rule.for ? "fires" : "soon"
    const words = state === "soon" ? `${found.words}; it has held for ${seconds(held)} of ${seconds(rule.for)}` : found.words
    return { ...rule, state, nearness: Math.min(1, found.nearness), words }
  })
  return judged.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || b.nearness - a.nearness)
}
