// The daily window: whether it is open, its schedule, what a schedule does in the next days, and how another one is set.

import { isRefusal, lacking, paused, watch } from "./parts.js"
import { quoted } from "./timeline.js"
import { action, command, confirm, exactly, facts, failure, field, h, problem, seconds, section, show, storeNote, time } from "./ui.js"

const examples = ["5m in 09:00-21:00 Europe/Berlin", "mon-fri,sun 90s in 22:00-02:00 UTC", "18:00-18:05 Europe/Berlin"]

/** Fills the tab. */
export function schedule(body, { app, signal }) {
  show(body, section("The window", lacking(app, ["read"]) ?? now(app, signal)), section("Schedule", lacking(app, ["admin"]) ?? plan(app, signal)))
}

function now(app, signal) {
  const element = h("div", {}, h("p", { class: "empty" }, "Loading…"))
  watch(app, 5, signal, element, async () => {
    const { open, opened_at: opened, closes_at: closes } = await app.api.get("/v1/window", {}, { signal, retries: 0 })
    if (signal.aborted) return
    if (!opened) return show(element, h("p", { class: "empty" }, "It has not opened yet."))
    show(element, facts({
      State: h("span", { class: `badge ${open ? "good" : ""}` }, open ? "open" : "closed"), Opened: [exactly(opened), " (", time(opened), ")"],
      [open ? "Closes" : "Closed"]: [exactly(closes), " (", time(closes), ")"],
    }), h("p", { class: "quiet" }, "Only the database knows the next time; no response has it."))
  })
  return element
}

function plan(app, signal) {
  const current = h("div", {}, h("p", { class: "empty" }, "Loading…"))
  const line = h("div")
  const seen = h("div", { role: "status" })
  let inUse = null

  const preview = async text => {
    try {
      const { items } = await app.api.get("/v1/window/preview", text ? { schedule: text } : {}, { signal })
      if (signal.aborted || text !== input.value.trim()) return
      // The line does what the form would: set what is typed, or what is in use.
      show(line, command(`take5 window set ${quoted(text || inUse || examples[0])}`))
      show(seen, h("h3", {}, text && text !== inUse ? "What it would do" : "The next days"), items.length ? days(items)
        : h("p", { class: "empty" }, "Without a schedule the window does not open."))
    } catch (error) {
      if (signal.aborted) return
      if (!isRefusal(error)) return app.failed(error)
      show(seen, problem(error))
    }
  }
  const read = async () => {
    const { schedule, source } = await app.api.get("/v1/window/schedule", {}, { signal })
    if (signal.aborted) return
    inUse = schedule
    show(current, facts({
      "In use": schedule ? h("code", {}, schedule) : "none",
      From: { operator: "set here or by ‘take5 window set’", option: "the option ‘--window’ of the service" }[source],
    }), source === "operator" && h("div", { class: "buttons" }, action(app, { label: "Return to the option…", scopes: ["admin"], run: clear })))
    input.value ||= schedule ?? ""
    await preview(input.value.trim())
  }
  const clear = async () => {
    const agreed = await confirm({
      title: "Return to the option?", action: "Return", isDangerous: true,
      text: "The schedule is removed. The option ‘--window’ of the services counts again; without it the window does not open any more.",
    })
    if (!agreed) return
    await app.api.delete("/v1/window/schedule")
    input.value = ""
    await read()
    return "The schedule is removed."
  }
  const set = async () => {
    const text = input.value.trim()
    if (!text) throw new Error("Write a schedule first.")
    const agreed = await confirm({
      title: "Set this schedule?", action: "Set the schedule", text: "It counts for all services and workers within half a minute.",
      details: h("p", {}, h("code", {}, text)),
    })
    if (!agreed) return
    await app.api.put("/v1/window/schedule", { schedule: text })
    await read()
    return "The schedule is set."
  }

  const wanted = field({
    label: "Another schedule", name: "schedule", maxlength: 200, autocomplete: "off", spellcheck: "false",
    help: "Days if not all, how long, the hours, the time zone; or fixed times.", oninput: () => later(),
  })
  const input = wanted.querySelector("input")
  const later = paused(400, signal, () => preview(input.value.trim()))
  const take = text => { input.value = text; preview(text) }
  const form = h("form", { onsubmit: event => event.preventDefault() }, wanted,
    h("div", { class: "row" }, h("small", {}, "For example"), examples.map(text =>
      h("button", { type: "button", class: "small", onclick: () => take(text) }, h("code", {}, text)))),
    seen, h("div", { class: "buttons" }, action(app, { label: "Set the schedule…", class: "primary", scopes: ["admin"], run: set })))
  readFirst(app, signal, current, read)
  return [current, form, h("h3", {}, "On the command line"), line, storeNote()]
}

async function readFirst(app, signal, element, read) {
  try {
    await read()
  } catch (error) {
    if (signal.aborted) return
    if (error.status === 401) return app.failed(error)
    show(element, failure(error, () => readFirst(app, signal, element, read)))
  }
}

const dayName = new Intl.DateTimeFormat("en", { weekday: "short", month: "short", day: "numeric", timeZone: "UTC" })

/** Hours by the clock of their zone, one line for each: a day as a bar, with the hours as a part of it. */
function days(items) {
  const part = text => {
    const [, hours, minutes, rest] = /T(\d\d):(\d\d):?(\d\d)?/.exec(text)
    return (hours * 3600 + minutes * 60 + Number(rest ?? 0)) / 86_400
  }
  const row = ({ local_from: from, local_until: until, per_minute: chance, seconds: length }) => {
    const start = part(from)
    const end = until.slice(0, 10) === from.slice(0, 10) ? part(until) : 1
    const open = seconds(length)
    const words = chance === null ? `at ${from.slice(11, 16)} for ${open}`
      : `${from.slice(11, 16)} to ${until.slice(11, 16)}${end === 1 && part(until) > 0 ? " of the next day" : ""}, for ${open}`
    const share = chance === null ? length / 86_400 : end - start
    const style = { left: `${100 * start}%`, width: `max(3px, ${100 * share}%)` }
    return h("li", {}, h("span", { class: "day-name" }, dayName.format(new Date(`${from.slice(0, 10)}T00:00:00Z`))),
      h("span", { class: "day-bar", "aria-hidden": "true" }, h("span", { class: chance === null ? "fixed" : "", style })),
      h("span", { class: "day-words" }, words))
  }
  const chance = items.find(each => each.per_minute !== null)?.per_minute
  return [h("ul", { class: "days" }, items.map(row)),
    chance && h("p", { class: "quiet" }, `In a minute of these hours it opens with a probability of ${(100 * chance).toFixed(2)} %; once in each.`)]
}
