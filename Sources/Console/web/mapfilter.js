// The filters of the map: a day or the days until then, a kind of posts, and an audience.

import { audiences, kindOptions } from "./glance.js"
import { dayOf } from "./parts.js"
import { field, h, icon } from "./ui.js"

const today = () => dayOf(new Date())
const dateOf = (day, shift = 0) => {
  const [year, month, date] = day.split("-").map(Number)
  return new Date(year, month - 1, date + shift)
}

export class MapFilter {
  #onchange

  /** `onchange()` is called once there are other values. */
  constructor(query, onchange) {
    const day = /^\d{4}-\d\d-\d\d$/.test(query.get("day") ?? "") ? query.get("day") : today()
    this.values = { day, span: query.get("span") ?? "1", kind: query.get("kind") ?? "", visibility: query.get("visibility") ?? "" }
    this.#onchange = onchange
    this.#build()
  }

  #build() {
    const { day, span, kind, visibility } = this.values
    const date = field({ label: "Day", name: "day", type: "date", value: day, required: true })
    const input = date.querySelector("input")
    const shift = days => () => {
      input.value = days === 0 ? today() : dayOf(dateOf(this.values.day, days))
      this.#change()
    }
    const spans = [["1", "That day"], ["7", "7 days until then"], ["30", "30 days until then"], ["all", "All time"]]
    this.form = h("form", { class: "map-filters", "aria-label": "Filters", onsubmit: event => event.preventDefault(), onchange: () => this.#change() },
      h("div", { class: "map-day" },
        h("button", { class: "icon-button", type: "button", "aria-label": "Day before", onclick: shift(-1) }, icon("back")), date,
        h("button", { class: "icon-button", type: "button", "aria-label": "Day after", onclick: shift(1) }, icon("next")),
        h("button", { type: "button", onclick: shift(0) }, "Today")),
      field({ label: "Time", name: "span", value: span, options: spans }), field({ label: "Kind", name: "kind", value: kind, options: kindOptions }),
      field({ label: "Audience", name: "visibility", value: visibility, options: [["", "Public"], ["any", "All audiences"]] }))
  }

  #change() {
    const values = Object.fromEntries(new FormData(this.form))
    this.values = { ...values, day: values.day || today() }
    this.#onchange()
  }

  /** Goes on to posts of all time. */
  widen() {
    this.form.elements.span.value = "all"
    this.#change()
  }

  /** What the address has of the values. */
  get address() {
    const { day, span, kind, visibility } = this.values
    return { day: day === today() ? null : day, span: span === "1" ? null : span, kind, visibility }
  }

  /** The parameters of requests. */
  get parameters() {
    const { day, span, kind, visibility } = this.values
    return {
      ...(span !== "all" && { from: dateOf(day, 1 - Number(span)).toISOString(), to: dateOf(day, 1).toISOString() }),
      ...(kind && { kind }), ...(visibility && { visibility: audiences }),
    }
  }

  /** The time in words. */
  get when() {
    const { day, span } = this.values
    if (span === "all") return "at any time"
    const words = new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format(dateOf(day))
    if (span !== "1") return `in the ${span} days until ${words}`
    return day === today() ? "today" : `on ${words}`
  }
}
