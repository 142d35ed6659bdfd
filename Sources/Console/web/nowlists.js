// The lists of the view Now: workers, the longest waits, rejections, dead jobs and alerts, whose lines stay while they are updated.

import { meter, pulse } from "./charts.js"
import { reasonWords } from "./glance.js"
import { count, counted, h, id, percent, seconds, section, show } from "./ui.js"

export const sum = (items, name) => items.reduce((total, each) => total + (each[name] ?? 0), 0)
export const put = (element, text) => { if (element.textContent !== text) element.textContent = text }
const median = numbers => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Makes one child of an element for each item, by their keys. An element whose key stays is updated, and keeps the focus. */
function keep(element, items, { key, make, empty }) {
  if (!items.length) return void (element.textContent === empty || show(element, h("li", { class: "empty" }, empty)))
  const former = new Map([...element.children].map(child => [child.key, child]))
  const focus = document.activeElement
  const wanted = items.map(item => former.get(key(item)) ?? Object.assign(make(item), { key: key(item) }))
  wanted.forEach((row, index) => row.update(items[index]))
  if (wanted.length === element.children.length && wanted.every((row, index) => row === element.children[index])) return
  show(element, wanted)
  if (focus !== document.activeElement && element.contains(focus)) focus.focus({ preventScroll: true })
}

/** A card with a list whose lines `items(facts)` are kept by `rows`. */
function list(title, items, rows, ...others) {
  const lines = h("ul", { class: "lines" }, h("li", { class: "empty" }, "Reading…"))
  return { element: section(title, ...others, lines), update(facts) {
    const found = items(facts)
    if (found) keep(lines, found, rows)
  } }
}

/** Whether the median of a worker's hour says how long its work takes: there are enough attempts, and most have not failed at once. */
const isTelling = each => each.completed >= 5 && each.completed > each.failed && each.p50_seconds !== null

/** How many times the median of the other workers an attempt takes, and of which kind; null unless it is far above. */
function slowness(worker, all) {
  const others = kind => all.filter(each => each !== worker && each.is_alive).flatMap(each => each.last_hour)
    .filter(each => each.kind === kind && isTelling(each)).map(each => each.p50_seconds)
  return worker.last_hour.filter(isTelling).map(({ kind, p50_seconds: own }) => ({ kind, own, usual: median(others(kind)) }))
    .filter(({ own, usual }) => own > 2 * usual && own > usual + 0.2).sort((a, b) => b.own / b.usual - a.own / a.usual)[0] ?? null
}

/** The attempts of the last hour if many of them have failed: at least five, and half of all that ended; null otherwise. */
function failing(worker) {
  const failed = sum(worker.last_hour, "failed"), all = failed + sum(worker.last_hour, "completed")
  return failed >= 5 && failed * 2 >= all ? { failed, all } : null
}

const attempts = ({ kind, completed, failed, lost, p50_seconds: half }) =>
  [`${kind}: ${count(completed)} done`, failed && `${count(failed)} failed`, lost && `${count(lost)} lost`,
    half !== null && `median ${seconds(half)}`].filter(Boolean).join(", ")

export function workers(app) {
  return list("Workers", ({ operations }) => operations.workers.map(each =>
    ({ ...each, slow: slowness(each, operations.workers), fails: failing(each) })), {
    key: each => String(each.number), empty: "No worker has registered: submissions wait until one starts.",
    make() {
      const heartbeat = pulse({ age: 0 }), name = h("b"), mark = h("span", { class: "badge" }), age = h("small"), work = h("small")
      const jobs = h("a", { href: app.address("jobs", { state: "executing" }) })
      const element = h("li", { class: "line" }, heartbeat, h("div", {}, h("div", { class: "row" }, name, mark, jobs), age, work))
      element.update = each => {
        const lease = each.lease_seconds ?? 30
        heartbeat.update({ age: each.beat_age_seconds, lease, isAlive: each.is_alive })
        put(name, `${each.host}:${each.process}`)
        const [state, tone] = !each.is_alive ? ["silent", "bad"] : each.fails ? ["fails", "bad"] : each.slow ? ["slow", "wait"] : ["alive", "good"]
        mark.className = `badge ${tone}`
        put(mark, state)
        put(jobs, each.slots === null ? counted(each.jobs, "job") : `${counted(each.jobs, "job")} of ${each.slots}`)
        const fails = each.fails && `${count(each.fails.failed)} of ${counted(each.fails.all, "attempt")} failed. `
        const times = each.slow && `A ${each.slow.kind} takes ${(each.slow.own / each.slow.usual).toFixed(1)} times the others’ median. `
        const life = seconds(Math.max(0, (Date.now() - Date.parse(each.started_at)) / 1000))
        put(age, `${fails ?? ""}${times ?? ""}Heartbeat ${seconds(each.beat_age_seconds)} ago, lease ${seconds(lease)}, started ${life} ago.`)
        put(work, each.last_hour.map(attempts).join("; ") || "No attempt within the last hour.")
      }
      return element
    },
  })
}

export function longest(app) {
  const aged = ({ longest, operations: { at } }) => longest?.map(each => ({ ...each, age: Math.max(0, (Date.parse(at) - each.since) / 1000) }))
  return list("Who waits longest", aged, {
    key: each => `${each.queue}/${each.kind}/${each.job?.id}`, empty: "Nothing waits.",
    make({ job }) {
      const age = h("b"), words = h("small"), link = job && h("a", { href: app.address(`job/${job.id}`) }, id(job.id))
      const element = h("li", { class: "line" }, h("div", {}, h("div", { class: "row" }, age, link), words))
      element.update = each => {
        const after = !each.job ? " The oldest one was just claimed." : each.job.error ? ` Last error: ${each.job.error}` : ""
        put(age, `${seconds(each.age)}: ${each.kind}${each.job?.author ? ` of ${each.job.author}` : ""}`)
        put(words, `In ${each.queue}; ${counted(each.jobs, "job")} ${each.jobs === 1 ? "waits" : "wait"} in this queue.${after}`)
      }
      return element
    },
  })
}

/** A line with a number that links to its records, words, and a share of all as a bar. */
function ranked(words, code) {
  const link = h("a"), level = meter(), title = h("span", {}, words, code && " ", code && h("small", {}, code))
  const element = h("li", { class: "line" }, h("div", {}, h("div", { class: "row between" }, title, link), level))
  element.update = ({ text, share, href }) => {
    put(link, text)
    if (link.getAttribute("href") !== href) link.setAttribute("href", href)
    level.update(share, "bad")
  }
  return element
}

export function rejections(app) {
  const href = app.address("moments", { tab: "feed", status: "rejected" })
  return list("Rejected after processing, last day", ({ operations: { reasons } }) => reasons.map(each =>
    ({ ...each, href, text: counted(each.posts, "post"), share: each.posts / sum(reasons, "posts") })), {
    key: each => each.code, empty: "Nothing was rejected.", make: ({ code }) => ranked(reasonWords(code), h("code", {}, code)),
  }, h("p", { class: "quiet" }, "What the service refuses at the door, with a 4xx, never becomes a post and is not counted here. ",
    "Each number opens the rejected posts of all reasons: lists of posts have no filter by the reason."))
}

/** What differs from job to job in an error of one cause: ids, hashes and numbers. */
const varying = /\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-z]*\d)[0-9a-f]{8,}|\d+(?:\.\d+)?)\b/gi

/** The errors of dead jobs; errors that differ only in their variable parts count as one: `{error, jobs, filter}`. The filter is what all have in common
 *  at their beginning, or their longest common part if they begin with what varies. */
function alike(errors) {
  const groups = Map.groupBy(errors, ({ error }) => error?.replace(varying, "…") ?? "")
  return [...groups].map(([key, all]) => {
    const parts = key.split("…").map(each => each.trim()), [beginning] = parts
    const common = beginning.length > 3 ? beginning : parts.toSorted((a, b) => b.length - a.length)[0]
    const [error, filter] = all.length === 1 ? [all[0].error, all[0].error] : [key, common]
    // The API finds texts of 200 characters at most.
    return { key, error, filter: filter?.slice(0, 200).trim(), jobs: sum(all, "jobs") }
  }).sort((a, b) => b.jobs - a.jobs)
}

export function deaths(app) {
  return list("Dead jobs by error", ({ operations: { errors } }) => alike(errors).map(each => ({ ...each, text: counted(each.jobs, "job"),
    href: app.address("jobs", { state: "dead", error: each.filter }), share: each.jobs / sum(errors, "jobs") })), {
    key: each => each.key, empty: "No job is dead.", make: ({ error }) => ranked(error ?? "without an error"),
  })
}

const stateWords = { fires: ["fires", "bad"], soon: ["about to fire", "wait"], calm: ["calm", "good"], unknown: ["not measured", "plain"] }

export function alerts() {
  const isCalm = each => each.state === "unknown" || each.state === "calm" && each.nearness < 0.1
  const rest = h("button", { type: "button", class: "link", "aria-expanded": "false", onclick: () => {
    rest.setAttribute("aria-expanded", String(rest.getAttribute("aria-expanded") !== "true"))
    if (last) part.update(last)
  } })
  let last = null
  const near = facts => {
    last = facts
    const calm = facts.alerts.filter(isCalm).length, isOpen = rest.getAttribute("aria-expanded") === "true"
    put(rest, isOpen ? "Show only the near ones" : `${count(calm)} more ${calm === 1 ? "is" : "are"} calm or not measured: show all`)
    rest.hidden = !calm
    return isOpen ? facts.alerts : facts.alerts.filter(each => !isCalm(each))
  }
  const part = list("Alerts, the nearest first", near, {
    key: each => each.name, empty: "None is near its threshold.",
    make({ name, help }) {
      const mark = h("span", { class: "badge" }), near = h("small"), words = h("small"), level = meter()
      const head = h("div", { class: "row between" }, h("b", {}, name), mark)
      const element = h("li", { class: "line", title: help }, h("div", {}, head, words, level, near))
      element.update = each => {
        const [text, tone] = stateWords[each.state]
        mark.className = `badge ${tone}`
        put(mark, text)
        put(words, each.words)
        put(near, each.state === "unknown" ? "" : `${percent(each.nearness)} of the threshold. ${each.state === "calm" ? "" : each.help}`)
        level.update(each.nearness, each.state === "fires" ? "bad" : each.nearness > 0.75 ? "wait" : "busy")
      }
      return element
    },
  }, h("p", { class: "quiet" }, "The rules of take5.rules.yml, with the counters of the process that serves this page, while it is open."))
  part.element.append(rest)
  part.element.classList.add("wide", "alerts")
  return part
}
