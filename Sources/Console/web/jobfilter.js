// The filter of jobs, which lives in the address of the view.

import { isRefusal, localTime, paused, utcTime } from "./parts.js"
import { count, field, h, show } from "./ui.js"

const states = ["scheduled", "available", "executing", "completed", "cancelled", "dead"]
const kinds = ["post", "image", "window", "forget", "reprocess", "attribution"]
const texts = ["queue", "kind", "author", "error", "created_after", "created_before", "finished_after", "finished_before"]

export class JobFilter {
  #app
  #signal
  #values
  #counts = new Map()

  constructor(app, signal, query) {
    this.#app = app
    this.#signal = signal
    this.#values = { state: query.getAll("state"), id: query.getAll("id") }
    for (const name of texts) if (query.get(name)) this.#values[name] = query.get(name)
  }

  get address() { return this.#app.address("jobs", this.#values) }

  /** The parts that have a value. */
  get given() { return Object.fromEntries(Object.entries(this.#values).filter(([, value]) => value?.length)) }

  /** The form; `onchange()` is called once the address has another filter. */
  form(onchange) {
    const set = (name, value) => {
      this.#values[name] = value
      history.replaceState(null, "", this.address)
      onchange()
    }
    const later = (name, read) => {
      const take = paused(300, this.#signal, set)
      return event => take(name, read(event.target.value))
    }
    const text = (label, name, others = {}) => field({
      label, name, value: this.#values[name] ?? "", autocomplete: "off", spellcheck: "false", ...others, oninput: later(name, value => value.trim()),
    })
    const at = (label, name) => field({
      label, name, type: "datetime-local", value: localTime(this.#values[name]), onchange: event => set(name, utcTime(event.target.value)),
    })
    const toggles = states.map(state => {
      const number = h("span", { class: "number" })
      this.#counts.set(state, number)
      return h("button", { type: "button", class: "toggle", "aria-pressed": `${this.#values.state.includes(state)}`, onclick: event => {
        const isOn = !this.#values.state.includes(state)
        event.currentTarget.setAttribute("aria-pressed", `${isOn}`)
        set("state", isOn ? [...this.#values.state, state] : this.#values.state.filter(each => each !== state))
      } }, state, number)
    })
    const times = ["created_after", "created_before", "finished_after", "finished_before"]
    return h("form", { class: "card filter", "aria-label": "Filter", onsubmit: event => event.preventDefault() },
      h("div", { class: "row", role: "group", "aria-label": "States" }, toggles),
      h("div", { class: "form-row" }, text("Kind", "kind", { list: "job-kinds" }), text("Queue", "queue", { list: "job-queues" }),
        text("Author", "author"), text("Error has", "error"), field({
          label: "Id", name: "id", value: this.#values.id.join(" "), autocomplete: "off", spellcheck: "false",
          oninput: later("id", value => value.split(/[\s,]+/).filter(Boolean)),
        })),
      h("details", { open: times.some(name => this.#values[name]) }, h("summary", {}, "Times"), h("div", { class: "form-row" },
        at("Created from", times[0]), at("Created before", times[1]), at("Finished from", times[2]), at("Finished before", times[3]))),
      h("datalist", { id: "job-kinds" }, kinds.map(kind => h("option", { value: kind }))), h("datalist", { id: "job-queues" }))
  }

  /** Shows how many jobs there are in each state; they are an addition, so the list does without them. */
  async readCounts() {
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
}
