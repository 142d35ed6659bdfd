// A list of many rows; the document has only the ones in sight: it scrolls through ten thousand rows as through ten.
// The keyboard walks through it, and a screen reader learns which row it reads.

import { h } from "./ui.js"

/** The rows that are drawn above and below those in sight. */
const margin = 8

/** The rows that are there below those in sight, before the list asks for more. */
const ahead = 150

const controls = "a, button, input"

/** The list is in the DOM as a grid. `columns`: `{name, title}`; `cells(item)` returns the content of each; the style sheet places the cell of a
 *  column by its class `at-NAME`, and gives all rows the height `--row`. `onopen(item)`: Enter; `onnear()`: more rows are needed; `onchoose()`:
 *  other rows are chosen. */
export class LongList {
  #options
  #key
  #items = []
  #places = new Map()
  #rows = new Map()
  #chosen = new Set()
  #anchor = null
  #active = null
  #isWhole = false
  #isFollowing = false
  #height = 0
  #size = 44
  #frame = 0
  #room = h("div", { class: "long-room", role: "presentation" })
  #body = h("div", { class: "long-body", role: "rowgroup" }, this.#room)
  #all

  constructor(options) {
    const { label, columns, key = item => item.id, signal } = this.#options = options
    this.#key = key
    this.#all = h("input", { type: "checkbox", "aria-label": "Choose all that are loaded", onchange: () => this.#chooseAll() })
    this.element = h("div", { class: "long", role: "grid", "aria-label": label, "aria-rowcount": "-1", "aria-multiselectable": "true" },
      h("div", { class: "long-head", role: "rowgroup" }, h("div", { class: "long-row", role: "row", "aria-rowindex": "1" },
        h("div", { role: "columnheader", class: "at-choose" }, this.#all),
        columns.map(column => h("div", { role: "columnheader", class: `at-${column.name}` }, column.title)))), this.#body)
    this.#listen()
    const sizes = new ResizeObserver(() => this.#measure())
    sizes.observe(this.#body)
    signal?.addEventListener("abort", () => { sizes.disconnect(); cancelAnimationFrame(this.#frame) })
  }

  get items() { return this.#items }

  /** Whether there is nothing below the last row. */
  get isWhole() { return this.#isWhole }

  /** Whether the first row is in sight. */
  get isAtTop() { return this.#body.scrollTop < Math.max(this.#size, 1) }

  /** The chosen items. */
  get chosen() { return this.#items.filter(item => this.#chosen.has(this.#key(item))) }

  /** The items in sight. */
  get inSight() {
    const first = Math.floor(this.#body.scrollTop / this.#size)
    return this.#items.slice(first, first + Math.ceil(this.#height / this.#size) + 1)
  }

  /** Where the list stands; a later list with the same items is set to it. */
  get place() { return { top: this.#body.scrollTop, active: this.#active } }

  set place({ top, active }) {
    if (this.#places.has(active)) this.#activate(active)
    this.#body.scrollTop = top
    this.#later()
  }

  /** Removes all rows. */
  clear() {
    this.#items = []
    this.#rows.forEach(row => row.remove())
    this.#rows.clear()
    this.#chosen.clear()
    this.#active = null
    this.#isFollowing = false
    this.#body.scrollTop = 0
    this.#change(false)
    this.#say()
  }

  /** Adds rows below the last one. */
  append(items, isWhole) {
    const from = this.#items.length
    this.#items.push(...items.filter(item => !this.#places.has(this.#key(item))))
    for (let at = from; at < this.#items.length; at++) this.#places.set(this.#key(this.#items[at]), at)
    this.#change(isWhole)
    if (this.#isFollowing) this.#walk(this.#items.length - 1)
    if (isWhole) this.#isFollowing = false
  }

  /** Adds rows above the first one: those in sight stay where they are, unless the first one is among them. */
  prepend(items) {
    const isAtTop = this.isAtTop
    this.#items = [...items, ...this.#items]
    this.#items.forEach((item, at) => this.#places.set(this.#key(item), at))
    this.#change(this.#isWhole)
    if (!isAtTop) this.#body.scrollTop += items.length * this.#size
  }

  /** Shows the present content of rows; items without a row are ignored. */
  replace(items) {
    for (const item of items) {
      const key = this.#key(item)
      const at = this.#places.get(key)
      if (at === undefined) continue
      this.#items[at] = item
      const row = this.#rows.get(key)
      if (row) this.#write(row, item)
    }
  }

  /** Chooses no row. */
  chooseNone() {
    this.#chosen.clear()
    this.#say()
  }

  /** Moves the focus to the first row. */
  enter() { this.#walk(0) }

  /** Scrolls to the first row. */
  toTop() { this.#body.scrollTo({ top: 0 }) }

  #listen() {
    this.#body.addEventListener("scroll", () => this.#later(), { passive: true })
    this.#body.addEventListener("wheel", () => { this.#isFollowing = false }, { passive: true })
    this.element.addEventListener("pointerdown", () => { this.#isFollowing = false })
    this.element.addEventListener("keydown", event => this.#press(event))
    this.element.addEventListener("focusin", event => {
      const key = event.target.closest("[data-key]")?.dataset.key
      if (key && key !== this.#active) this.#activate(key)
    })
    this.#room.addEventListener("click", event => {
      if (!event.target.matches(".at-choose input")) return
      this.#choose(event.target.closest("[data-key]").dataset.key, event.target.checked, event.shiftKey)
    })
  }

  #read() {
    this.#size = parseFloat(getComputedStyle(this.#room).getPropertyValue("--row")) || 44
    this.#height = this.#body.clientHeight
  }

  /** Reads the sizes; the row at the top stays there when all become higher or lower. */
  #measure() {
    const size = this.#size
    const top = this.#body.scrollTop / size
    this.#read()
    if (this.#size !== size) this.#body.scrollTop = top * this.#size
    this.#later()
  }

  #change(isWhole) {
    if (!this.#items.length) this.#places.clear()
    this.#isWhole = isWhole
    this.#active ??= this.#items.length ? this.#key(this.#items[0]) : null
    this.#room.style.setProperty("--count", this.#items.length)
    this.element.setAttribute("aria-rowcount", isWhole ? this.#items.length + 1 : -1)
    this.#sayAll()
    this.#later()
  }

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#draw()
    })
  }

  /** Draws the rows in sight, and that with the focus, in their order; rows that are drawn already stay as they are. */
  #draw() {
    if (!this.#body.isConnected) return
    if (!this.#height) this.#read()
    const top = this.#body.scrollTop
    const first = Math.max(0, Math.floor(top / this.#size) - margin)
    const last = Math.min(this.#items.length - 1, Math.floor((top + this.#height) / this.#size) + margin)
    const places = []
    for (let at = first; at <= last; at++) places.push(at)
    const active = this.#places.get(this.#active)
    if (active < first) places.unshift(active)
    if (active > last) places.push(active)
    const wanted = new Set(places.map(at => this.#key(this.#items[at])))
    for (const [key, row] of this.#rows) {
      if (wanted.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    let next = this.#room.firstElementChild
    for (const at of places) {
      const row = this.#row(this.#items[at])
      if (row === next) next = next.nextElementSibling
      else this.#room.insertBefore(row, next)
      if (row.getAttribute("aria-rowindex") === `${at + 2}`) continue
      row.setAttribute("aria-rowindex", at + 2)
      row.style.setProperty("--at", at)
    }
    if (!this.#isWhole && last + ahead >= this.#items.length) this.#options.onnear()
  }

  #row(item) {
    const key = this.#key(item)
    const drawn = this.#rows.get(key)
    if (drawn) return drawn
    const isActive = key === this.#active
    const tabindex = isActive ? "0" : "-1"
    const row = h("div", { class: "long-row", role: "row", tabindex, "aria-selected": `${this.#chosen.has(key)}`, data: { key } },
      h("div", { class: "at-choose", role: "gridcell" },
        h("input", { type: "checkbox", checked: this.#chosen.has(key), tabindex, "aria-label": `Choose ${key}` })))
    this.#rows.set(key, row)
    this.#write(row, item)
    return row
  }

  /** Writes the cells that differ. A cell with the focus hands it to its row. */
  #write(row, item) {
    const tabindex = this.#key(item) === this.#active ? "0" : "-1"
    this.#options.cells(item).forEach((content, number) => {
      const { name, title } = this.#options.columns[number]
      const cell = h("div", { class: `at-${name}`, role: "gridcell", data: { title } }, content)
      cell.querySelectorAll(controls).forEach(control => control.setAttribute("tabindex", tabindex))
      const old = row.children[number + 1]
      if (!old) return row.append(cell)
      if (old.isEqualNode(cell)) return
      const hasFocus = old.contains(document.activeElement)
      old.replaceWith(cell)
      if (hasFocus) row.focus({ preventScroll: true })
    })
  }

  #activate(key) {
    const mark = (row, tabindex) =>
      [row, ...row?.querySelectorAll(controls) ?? []].forEach(each => each?.setAttribute("tabindex", tabindex))
    mark(this.#rows.get(this.#active), "-1")
    this.#active = key
    mark(this.#rows.get(key), "0")
    this.#later()
  }

  /** Moves the focus to a row, which comes into sight. */
  #walk(to) {
    const at = Math.max(0, Math.min(this.#items.length - 1, to))
    if (!this.#items[at]) return
    this.#activate(this.#key(this.#items[at]))
    const top = at * this.#size
    if (top < this.#body.scrollTop) this.#body.scrollTop = top
    if (top + this.#size > this.#body.scrollTop + this.#height) this.#body.scrollTop = top + this.#size - this.#height
    this.#draw()
    this.#rows.get(this.#active).focus({ preventScroll: true })
  }

  #press(event) {
    const row = event.target.closest("[data-key]")
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    this.#isFollowing = false
    const at = this.#places.get(row.dataset.key)
    const page = Math.max(1, Math.floor(this.#height / this.#size) - 1)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.#items.length - 1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      if (event.shiftKey) this.#choose(row.dataset.key, true)
      this.#isFollowing = event.key === "End" && !this.#isWhole
      this.#walk(to)
      if (event.shiftKey) this.#choose(this.#active, true)
    } else if (event.target === row && event.key === "Enter") {
      this.#options.onopen(this.#items[at])
    } else if (event.target === row && event.key === " ") {
      event.preventDefault()
      this.#choose(row.dataset.key, !this.#chosen.has(row.dataset.key), event.shiftKey)
    }
  }

  /** Chooses a row or not; with `isRange` also those between it and the one before. */
  #choose(key, isChosen, isRange = false) {
    const to = this.#places.get(key)
    const from = isRange ? this.#places.get(this.#anchor) ?? to : to
    for (let at = Math.min(from, to); at <= Math.max(from, to); at++) {
      if (isChosen) this.#chosen.add(this.#key(this.#items[at]))
      else this.#chosen.delete(this.#key(this.#items[at]))
    }
    this.#anchor = key
    this.#say()
  }

  #chooseAll() {
    if (this.#all.checked) this.#items.forEach(item => this.#chosen.add(this.#key(item)))
    else this.#chosen.clear()
    this.#say()
  }

  /** Shows which rows are chosen. */
  #say() {
    for (const [key, row] of this.#rows) {
      row.setAttribute("aria-selected", `${this.#chosen.has(key)}`)
      row.querySelector(".at-choose input").checked = this.#chosen.has(key)
    }
    this.#sayAll()
    this.#options.onchoose?.()
  }

  #sayAll() {
    this.#all.checked = this.#items.length > 0 && this.#chosen.size === this.#items.length
    this.#all.indeterminate = this.#chosen.size > 0 && !this.#all.checked
  }
}
