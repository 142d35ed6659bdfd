// What the views share: elements, formats, tables, dialogs and actions. Text of users becomes text nodes, never markup.

/** Creates an element. `attributes` may have `class`, `style` (an object), `data` (an object), listeners (`onclick`) and
 *  properties or attributes; values that are null, undefined or false are left out. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children)
}

/** Creates an element of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children)
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (name === "style") Object.entries(value).forEach(([key, text]) => element.style.setProperty(key, text))
    else if (name === "data") Object.assign(element.dataset, value)
    else if (name === "value" || name === "checked" || name === "muted") element[name] = value
    else element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...nodes(children))
  return element
}

function nodes(children) {
  return children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false)
}

/** Replaces the content of an element. */
export function show(element, ...children) {
  element.replaceChildren(...nodes(children))
  return element
}

const paths = {
  now: "M3 12h4l3-8 4 16 3-8h4", submit: "M12 16V4m0 0L7 9m5-5 5 5M4 20h16", moments: "M12 21s-7-6.2-7-11a7 7 0 0 1 14 0c0 4.8-7 11-7 11zm0-8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  photo: "M4 5h16v14H4zm0 12 5-6 4 4 3-3 4 5M15.5 9.5h.01",
  jobs: "M4 6h16M4 12h16M4 18h10", store: "M4 7c0-4 16-4 16 0v10c0 4-16 4-16 0zm0 0c0 4 16 4 16 0M4 12c0 4 16 4 16 0",
  people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 10c0-8 14-8 14 0m1-17a4 4 0 0 1 0 7m5 10c0-4-2-6-5-6.500",
  theme: "M12 3a9 9 0 1 0 0 18zm0 0a9 9 0 0 1 0 18", leave: "M10 4H5v16h5m4-4 4-4-4-4m4 4H9", swap: "M7 4 3 8l4 4M3 8h14m0 4 4 4-4 4m4-4H7",
  play: "M7 4v16l13-8z", pause: "M8 5v14m8-14v14", more: "M5 12h.01M12 12h.01M19 12h.01", back: "M14 5l-7 7 7 7", next: "M10 5l7 7-7 7", close: "M6 6l12 12M18 6 6 18",
  world: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0 0c-5-5-5-13 0-18 5 5 5 13 0 18M3 12h18",
  warning: "M12 3 2 20h20zm0 6v5m0 3v.01", done: "M4 12l6 6L20 6", copy: "M9 9h11v11H9zM5 15H4V4h11v1", film: "M3 7h12v10H3zm12 4 6-4v10l-6-4z",
  sound: "M4 9h4l5-5v16l-5-5H4zm12.5-.5a5 5 0 0 1 0 7m2.5-10a9 9 0 0 1 0 13", silent: "M4 9h4l5-5v16l-5-5H4zm12.5.5 5 5m0-5-5 5",
}

/** An icon of the given name, which says nothing to a screen reader. */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: paths[name] }))
}

/** Whether the person prefers less motion. */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches

/** A number within bounds. */
export const clamped = (value, least, most) => Math.min(Math.max(value, least), most)

// MARK: Formats

const numbers = new Intl.NumberFormat("en")
const clock = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" })

/** The zone of all times of the page. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** A number with separators: 12,345. */
export const count = number => number === null || number === undefined ? "–" : numbers.format(number)

/** A number with its noun: 1 job, 2 jobs. */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`

/** Bytes in binary units: 11.5 MiB. */
export function bytes(number) {
  if (number === null || number === undefined) return "–"
  const unit = number < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(number) / 10))
  return `${(number / 1024 ** unit).toFixed(unit && number / 1024 ** unit < 100 ? 1 : 0)} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`
}

/** A duration in seconds: 0.35 s, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function seconds(number) {
  if (number === null || number === undefined) return "–"
  if (number < 10) return `${number.toFixed(number < 1 ? 2 : 1)} s`
  if (number < 60) return `${Math.round(number)} s`
  const [big, small, size] = number < 3600 ? ["min", "s", 60] : number < 86400 ? ["h", "min", 3600] : ["d", "h", 86400]
  const rest = Math.floor(number % size / (size === 60 ? 1 : size === 3600 ? 60 : 3600))
  return `${Math.floor(number / size)} ${big}${rest ? ` ${rest} ${small}` : ""}`
}

/** A duration in its largest unit alone, for narrow columns: 12 s, 2 min, 5 h, 3 d. */
export function brief(number) {
  return seconds(number).split(" ").slice(0, 2).join(" ")
}

/** A share of one as per cent: 0.421 is 42 %. */
export const percent = share => `${Math.round(share * 100)} %`

/** A time, as long ago as it is, with the exact one for who points at it. */
export function time(text) {
  if (!text) return "–"
  const date = new Date(text)
  const age = (Date.now() - date) / 1000
  const words = Math.abs(age) < 5 ? "now" : age > 0 ? `${seconds(age)} ago` : `in ${seconds(-age)}`
  return h("time", { datetime: text, title: clock.format(date) }, words)
}

/** How long ago a time is, as a duration, with the exact one for who points at it. */
export const lasting = text => h("span", { title: exactly(text) }, seconds(Math.max(0, (Date.now() - new Date(text)) / 1000)))

/** The exact time in the zone of the browser. */
export const exactly = text => text ? clock.format(new Date(text)) : "–"

const tones = {
  ready: "good", completed: "good", accepted: "good", approve: "good", alive: "good", delivered: "good", established: "good",
  processing: "busy", executing: "busy", available: "busy", running: "busy", scheduled: "wait", held: "wait", paused: "wait", cancelled: "wait", open: "wait",
  rejected: "bad", failed: "bad", dead: "bad", hidden: "bad", silent: "bad", disabled: "bad", hide: "bad", suspend: "bad",
}

/** A state in its colour; the word says the same. */
export const badge = state => h("span", { class: `badge ${tones[state] ?? "plain"}` }, state)

/** The beginning of an id, in a font of fixed width, with the whole one for who points at it. */
export const id = text => h("code", { class: "id", title: text }, text.length > 13 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text)

// MARK: What the browser remembers

/** A text that this browser remembers; empty without one, and if the browser forbids it. */
export function remembered(name) {
  try { return localStorage.getItem(name) ?? "" } catch { return "" }
}

export function remember(name, text) {
  try { localStorage.setItem(name, text) } catch { /* Then the person says it again the next time. */ }
}

// MARK: Parts of a view

/** A part of a view with a heading of the second level. */
export function section(title, ...children) {
  const heading = h("h2", {}, title)
  return h("section", { class: "card", "aria-label": title }, heading, ...children)
}

/** Names with their values, as a list of descriptions. Values that are null are left out. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, Object.entries(pairs).filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))
}

/** A table. `columns`: `{title, cell(row), numeric, wide}`; `onopen(row)` makes its first cell a button that opens the row. */
export function table({ caption, columns, rows, onopen, empty = "There is nothing here." }) {
  if (!rows.length) return h("p", { class: "empty" }, empty)
  const cell = (column, row, index) => {
    const content = column.cell(row)
    const shown = onopen && index === 0 ? h("button", { class: "link", onclick: () => onopen(row) }, content) : content
    return h(index === 0 ? "th" : "td", { scope: index === 0 ? "row" : null, class: column.numeric ? "number" : null, data: { title: column.title } }, shown ?? "–")
  }
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, columns.map(column => h("th", { scope: "col", class: column.numeric ? "number" : null }, column.title)))),
      h("tbody", {}, rows.map(row => h("tr", {}, columns.map((column, index) => cell(column, row, index)))))))
}

let fields = 0

/** A field of a form with its label. `options` ([value, text] or texts) make it a choice; `help` is said with it. */
export function field({ label, name, type = "text", value = "", options, help, ...others }) {
  const key = `field-${++fields}`
  const attributes = { id: key, name, "aria-describedby": help ? `${key}-help` : null, ...others }
  const control = options
    ? h("select", attributes, options.map(option => {
      const [text, words] = Array.isArray(option) ? option : [option, option]
      return h("option", { value: text, selected: text === value }, words)
    }))
    : type === "textarea" ? h("textarea", attributes, value)
    : h("input", { ...attributes, type, value: type === "checkbox" ? null : value, checked: type === "checkbox" ? !!value : null })
  return h("div", { class: `field ${type === "checkbox" ? "check" : ""}` }, h("label", { for: key }, label), control,
    help && h("small", { id: `${key}-help` }, help))
}

/** The values of a form by their names, without the empty ones. */
export function values(form) {
  return Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""))
}

/** A problem of the API in plain words, with what helps. */
export function problem(error) {
  return h("div", { class: "problem", role: "alert" }, icon("warning"), h("div", {},
    h("strong", {}, error.title ?? "Something failed"), " ", h("span", {}, error.detail ?? error.message),
    error.remedy && h("p", {}, error.remedy),
    error.errors?.length > 0 && h("ul", {}, error.errors.map(each => h("li", {}, h("code", {}, each.field ?? each.path ?? ""), " ", each.detail ?? ""))),
    error.requestID && h("small", {}, "request ", h("code", {}, error.requestID))))
}

/** A problem with a button that tries again, which is also pressed for the person once the service answers after an outage. */
export const failure = (error, again) => [problem(error), h("button", { type: "button", class: "again", onclick: again }, "Try again")]

/** A note of a few seconds, which a screen reader says. `tone`: good or bad. */
export function toast(text, tone = "good") {
  const note = h("div", { class: `toast ${tone}` }, text)
  document.querySelector("#toasts").append(note)
  setTimeout(() => note.remove(), tone === "bad" ? 10_000 : 5_000)
}

/** Shows a dialog, and removes it once it is closed; then `onclose` is called. */
export function showDialog(dialog, onclose) {
  dialog.addEventListener("close", () => { dialog.remove(); onclose?.() })
  document.body.append(dialog)
  dialog.showModal()
}

/** Asks before something happens; true once the person agrees. `details` are shown below the text. */
export function confirm({ title, text, action = "Continue", isDangerous = false, details }) {
  return new Promise(resolve => {
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, h("form", { method: "dialog" },
      h("h2", { id: "dialog-title" }, title), text && h("p", {}, text), details,
      h("div", { class: "buttons" }, h("button", { value: "" }, "Cancel"),
        h("button", { value: "yes", class: isDangerous ? "danger" : "primary" }, action))))
    showDialog(dialog, () => resolve(dialog.returnValue === "yes"))
  })
}

/** A button for an action that needs scopes: without them it is disabled, and says why. `run` may ask first, and returns what the
 *  toast says; while it runs the button cannot be pressed again. */
export function action(app, { label, scopes = [], run, why, class: kind, icon: name }) {
  const missing = scopes.filter(scope => !app.session.can(scope))
  const reason = missing.length ? `Needs the scope ${missing.map(scope => `‘${scope}’`).join(" and ")}, which this sign-in does not have.` : why
  const button = h("button", { class: kind, title: reason, "aria-disabled": reason ? "true" : null }, name && icon(name), label)
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled")) return toast(reason ?? "It runs already.", "bad")
    button.setAttribute("aria-disabled", "true")
    try {
      const said = await run()
      if (said) toast(said)
    } catch (error) {
      if (error.name !== "AbortError") toast([error.title ?? error.message, error.detail, error.remedy].filter(Boolean).join(" "), "bad")
    } finally {
      button.removeAttribute("aria-disabled")
    }
  })
  return button
}

/** A command line that can be copied. */
export function command(text) {
  const button = h("button", { type: "button", class: "icon-button", "aria-label": "Copy the command", onclick: async () => {
    await navigator.clipboard.writeText(text)
    toast("The command is copied.")
  } }, icon("copy"))
  return h("div", { class: "command" }, h("code", {}, text), button)
}

/** What commands need that work on the store of the service. */
export const storeNote = () => h("p", { class: "quiet" }, "Add ", h("code", {}, "--data FOLDER"), " or ", h("code", {}, "--database URL"),
  ", as the service has them, unless its configuration file is on this machine.")

/** A list that shows the next page at a button, and when its end comes into sight. `draw(items, included)` returns elements. */
export function pages(list, { draw, into, signal, empty = "There is nothing here." }) {
  const pages = list.pages()
  const more = h("button", { class: "more", onclick: () => next() }, "More")
  const failed = h("div")
  let isLoading = false, shown = 0
  async function next() {
    if (isLoading) return
    isLoading = true
    more.textContent = "Loading…"
    more.classList.remove("again")
    show(failed)
    try {
      const { value, done } = await pages.next()
      if (signal?.aborted) return
      if (!done) {
        into.append(...nodes([draw(value.items, value.included)]))
        shown += value.items.length
      }
      if (done || !value.next) more.remove()
      else more.textContent = "More"
      if (!shown) into.append(h(/^[ou]l$/.test(into.localName) ? "li" : "p", { class: "empty" }, empty))
    } catch (error) {
      if (signal?.aborted) return
      more.textContent = "Try again"
      more.classList.add("again")
      show(failed, problem(error))
    } finally {
      isLoading = false
    }
  }
  const sight = new IntersectionObserver(entries => entries.some(entry => entry.isIntersecting) && more.textContent === "More" && next())
  sight.observe(more)
  signal?.addEventListener("abort", () => sight.disconnect())
  next()
  return h("div", {}, failed, more)
}
