// A job over time: when it was submitted, waited and ran, its attempts and lost leases, the stages of an attempt, what was decided, and where
// its log lines are. The views of a post and of a job share it.

import { action, badge, command, confirm, counted, exactly, facts, h, percent, section, seconds, show, storeNote, svg, time } from "./ui.js"
import { verdict } from "./verdict.js"

/** A word of a command line, in quotes if a shell would read it otherwise. */
export const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Whether a job has ended; an operator may retry it. */
export const isEnded = job => ["completed", "cancelled", "dead"].includes(job.state)

const stages = ["fetch", "probe", "compose", "photo", "publish", "commit"]

/** What happened to a job. `entry` has what operators read besides; null without the scope for it. */
export function timeline(job, entry) {
  return h("div", { class: "stack" },
    section("Attempts", bar(job), attempts(job, entry), h("ol", { class: "events" }, events(job, entry).map(([at, text, tone]) =>
      h("li", { class: tone }, at ? time(at) : h("span", { class: "quiet" }, "unknown"), h("span", {}, text))))),
    section("Facts", jobFacts(job, entry)),
    job.verdict && section("Verdict and decisions", verdict(job.verdict)),
    logs(job, entry))
}

/** The progress of a job that runs, which `update` draws again. A screen reader says a new stage, not each percent. */
export function progress(job) {
  const meter = h("progress", { max: 1, "aria-label": "Progress" })
  const said = h("span", { class: "row", role: "status" }), share = h("span", { class: "number" })
  const element = h("div", { class: "job-progress" }, meter, h("p", { class: "row" }, said, share))
  let shown = null
  element.update = next => {
    meter.value = next.progress ?? 0
    share.textContent = percent(next.progress ?? 0)
    const key = `${next.state} ${next.stage} ${next.attempt}`
    if (key === shown) return
    show(said, badge(next.state), next.stage ? stageList(next) : null, next.attempt > 1 ? `attempt ${next.attempt}` : null)
    shown = key
  }
  element.update(job)
  return element
}

/** Buttons that change a job, with a question before. */
export function jobActions(app, job, ondone) {
  const change = (word, text, isDangerous) => action(app, { label: word, scopes: ["admin"], class: isDangerous ? "danger" : null, run: async () => {
    if (!await confirm({ title: `${word} this job?`, text, action: `${word} the job`, isDangerous })) return null
    await app.api.post(`/v1/jobs/${job.id}/${word.toLowerCase()}`)
    await ondone()
    return word === "Retry" ? "The job is tried again." : "The job is cancelled."
  } })
  const canRetry = job.state === "dead" || job.state === "scheduled"
  return [canRetry && change("Retry", "A dead job starts with its first attempt, one that waits runs now. Its post is processing again."),
    !isEnded(job) && change("Cancel", "A job that waits ends at once, one that runs with its next heartbeat. Its post has then failed.", true)]
}

// MARK: Time

/** Waiting and running as a bar, to scale. */
function bar(job) {
  const [created, started, finished] = [job.created_at, job.started_at, job.finished_at].map(text => text ? Date.parse(text) : null)
  const end = Math.max(finished ?? Date.now(), created + 1)
  const share = at => Math.max(0, Math.min(100, (at - created) / (end - created) * 100))
  const middle = share(started ?? end)
  const [waited, ran] = [((started ?? end) - created) / 1000, started ? (end - started) / 1000 : 0]
  const before = job.attempt > 1 ? `Waiting and ${counted(job.attempt - 1, "earlier attempt")}` : "Waiting"
  const label = `${before}: ${seconds(waited)}. ${started ? `${job.attempt > 1 ? "Last attempt" : "Attempt"}: ${seconds(ran)}.` : "Not started."}`
  const box = { viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": label }
  const part = (name, x, width) => svg("rect", { class: `span-${name}`, x, y: 0, width: Math.max(0.5, width), height: 6 })
  return h("figure", { class: "spans" }, svg("svg", box, part("wait", 0, middle), started && part(tone(job), middle, 100 - middle)),
  h("figcaption", {}, h("span", {}, h("i", { class: "span-key key-wait" }), `${before}: ${seconds(waited)}`),
    started && h("span", {}, h("i", { class: `span-key key-${tone(job)}` }), `${isEnded(job) ? "Last attempt" : "This attempt"}: ${seconds(ran)}`)))
}

const tone = job => job.state === "completed" ? "good" : job.state === "dead" ? "bad" : "busy"

function attempts(job, entry) {
  const ended = job.state === "completed" ? "good" : job.state === "executing" ? "busy" : job.state === "dead" ? "bad" : "wait"
  const dots = Array.from({ length: Math.max(job.max_attempts, job.attempt) }, (_, index) =>
    index + 1 < job.attempt ? "bad" : index + 1 === job.attempt ? ended : "none")
  return h("p", { class: "row" }, h("span", { class: "dots", "aria-hidden": "true" }, dots.map(name => h("i", { class: `dot ${name}` }))),
    `${job.attempt} of at most ${counted(job.max_attempts, "attempt")}`, entry && h("span", {}, `${entry.lost ? counted(entry.lost, "lease") : "no lease"} lost`))
}

function events(job, entry) {
  const list = [[job.created_at, entry?.author ? `Submitted by ${entry.author}` : "Submitted"]]
  const lost = entry?.lost && `${counted(entry.lost, "lease")} lost: a worker sent no heartbeat any more, and the attempt does not count`
  if (lost) list.push([null, lost, "wait"])
  if (job.attempt > 1) list.push([null, `${counted(job.attempt - 1, "earlier attempt")} ended without an effect`, "bad"])
  const taken = `Attempt ${job.attempt} started: a worker holds the job by a lease, which three heartbeats prolong before it would end`
  if (job.started_at) list.push([job.started_at, taken])
  if (job.error && job.state !== "completed") list.push([null, `The last attempt failed: ${entry?.error ?? job.error}`, "bad"])
  if (job.state === "executing") list.push([null, ["Now: ", stageList(job)], "busy"])
  const waits = !isEnded(job) && job.state !== "executing"
  if (waits && entry?.run_at) list.push([entry.run_at, `The ${job.attempt ? "next" : "first"} attempt may start`, "wait"])
  if (job.finished_at) list.push([job.finished_at, ending(job), tone(job)])
  return list
}

function ending(job) {
  if (job.state === "completed") return job.verdict ? `Completed: the media were ${job.verdict.verdict}` : "Completed"
  return job.state === "dead" ? "Dead: no attempt is left, or the job broke its workers; it can be retried" : "Cancelled"
}

function stageList(job) {
  if (!stages.includes(job.stage)) return job.stage ?? "no stage yet"
  const shown = stages.filter(stage => stage !== (job.stage === "photo" ? "compose" : "photo"))
  return h("span", { class: "stages" }, shown.map(stage => h("span", { "aria-current": stage === job.stage ? "step" : null }, stage)))
}

function jobFacts(job, entry) {
  return facts({
    State: badge(job.state), Kind: job.kind, Queue: entry?.queue, Stage: job.stage, Progress: isEnded(job) ? null : percent(job.progress),
    Attempts: `${job.attempt} of ${job.max_attempts}`, "Leases lost": entry ? String(entry.lost) : null,
    Author: entry?.author ? h("a", { href: `#/user/${encodeURIComponent(entry.author)}` }, entry.author) : null,
    Submitted: exactly(job.created_at), "May run": entry?.run_at ? exactly(entry.run_at) : null, Started: exactly(job.started_at),
    Ended: exactly(job.finished_at), Error: entry?.error ?? job.error, Request: entry?.request ? h("code", {}, entry.request) : null,
    Job: h("a", { href: `#/job/${job.id}` }, h("code", {}, job.id)),
  })
}

// MARK: Logs

/** Where the log lines of a job are, and what its traces are found by. */
function logs(job, entry) {
  const trail = quoted(entry?.request ?? job.id)
  const known = ["The request ", h("code", {}, entry?.request), " stands in the log lines of the service and of the worker, and in traces as ",
    h("code", {}, "take5.request"), "; the job is ", h("code", {}, "messaging.message.id"), " there."]
  const words = entry?.request ? known : "With the scope ‘admin’ the id of the request is shown here, which all of its log lines have."
  return section("In the log", h("p", {}, words), h("div", { class: "stack" },
    command(`journalctl --unit take5 --unit 'take5-worker@*' --no-pager --grep ${trail}`), command(`grep -F -e ${trail} take5.log`),
    command(`take5 jobs show ${job.id}`), storeNote()))
}
