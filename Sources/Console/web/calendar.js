// A user's month: each day with its latest moment, which plays its preview when a person points at it or goes there by keys.

import { audiences, authorOf, countsOf, kinds, nameOf, phrase, tile } from "./glance.js"
import { dayOf } from "./parts.js"
import { picture } from "./picture.js"
import { counted, exactly, failure, field, h, icon, prefersStillness, show, time, zone } from "./ui.js"

const weekdays = [...Array(7).keys()].map(day => new Date(Date.UTC(2024, 0, 1 + day)))
  .map(date => ["short", "long"].map(weekday => new Intl.DateTimeFormat("en", { weekday, timeZone: "UTC" }).format(date)))
const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" })
const dayName = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" })

const two = number => `${number}`.padStart(2, "0")
const today = () => dayOf(new Date())
const thisMonth = () => today().slice(0, 7)

/** The month that lies some months later or, below zero, before. */
function later(month, months) {
  const [year, number] = month.split("-").map(Number)
  const date = new Date(Date.UTC(year, number - 1 + months, 1))
  return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}`
}

export default async function (panel, context) {
  const month = new Month(context)
  show(panel, month.element)
  await month.read()
}

class Month {
  #reading = null
  #opened = null

  constructor({ app, query, signal, remember }) {
    Object.assign(this, { app, signal, remember })
    this.author = query.get("author") ?? ""
    this.audience = query.get("visibility") ?? ""
    this.month = /^\d{4}-(0[1-9]|1[0-2])$/.test(query.get("month") ?? "") ? query.get("month") : thisMonth()
    this.#build()
  }

  #build() {
    const names = h("datalist", { id: "calendar-authors" })
    const author = field({ label: "User", name: "author", value: this.author, list: names.id, autocomplete: "off", placeholder: "Id of a user" })
    const turn = (label, name, months) =>
      h("button", { class: "icon-button", type: "button", "aria-label": label, onclick: () => this.#go(later(this.month, months)) }, icon(name))
    const submit = event => { event.preventDefault(); this.#change() }
    this.form = h("form", { class: "map-filters", "aria-label": "Filters", onsubmit: submit, onchange: () => this.#change() },
      author, names,
      field({ label: "Audience", name: "visibility", value: this.audience, options: [["", "All audiences"], ...audiences] }),
      h("div", { class: "map-day" },
        turn("Previous month", "back", -1), turn("Next month", "next", 1),
        h("button", { type: "button", onclick: () => this.#go(thisMonth()) }, "This month")))
    const input = author.querySelector("input")
    let timer
    input.addEventListener("input", () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.#suggest(input.value, names), 250)
    }, { signal: this.signal })
    this.title = h("h2", { class: "month-title", "aria-live": "polite" })
    this.days = h("div", { class: "month-days" })
    this.day = h("div", { class: "month-day" })
    this.element = h("div", { class: "stack" }, this.form, h("section", { class: "card", "aria-label": "Month" }, this.title, this.days), this.day)
  }

  #change() {
    const { author, visibility } = Object.fromEntries(new FormData(this.form))
    if (author.trim() === this.author && visibility === this.audience) return
    Object.assign(this, { author: author.trim(), audience: visibility })
    this.#go(this.month)
  }

  #go(month) {
    this.month = month
    this.remember({ author: this.author, visibility: this.audience, month: month === thisMonth() ? null : month })
    this.read().catch(error => this.#refuse(error, this.days, () => this.#go(month)))
  }

  /** Shows what has failed where its result would be. */
  #refuse(error, element, again) {
    if (this.signal.aborted) return
    if (error.status === 401) return this.app.failed(error)
    show(element, failure(error, again))
  }

  /** Puts the names that begin with a text into the list of the field. */
  async #suggest(text, names) {
    if (text.trim().length < 1) return
    try {
      const { items } = await this.app.api.get("/v1/users", { query: text.trim(), limit: 8 }, { signal: this.signal })
      show(names, items.map(user => h("option", { value: user.id }, nameOf(user, user.id))))
    } catch { /* The field works without it. */ }
  }

  async read() {
    this.#reading?.abort()
    const turn = this.#reading = new AbortController()
    const signal = AbortSignal.any([this.signal, turn.signal])
    show(this.day)
    this.#opened = null
    this.title.textContent = monthName.format(new Date(`${this.month}-01T00:00:00Z`))
    this.days.setAttribute("aria-busy", "true")
    try {
      if (!this.author) return await this.#offer(signal)
      const { days } = await this.app.api.get(`/v1/users/${encodeURIComponent(this.author)}/calendar`,
        { month: this.month, zone, ...(this.audience && { visibility: this.audience }) }, { signal })
      this.#draw(days)
      if (!days.length) return
      // The calendar has the image of a day; its post has the preview.
      const { items } = await this.app.api.get("/v1/posts", { id: days.map(day => day.post) }, { signal })
      this.#enrich(items)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      if (this.#reading === turn) this.days.removeAttribute("aria-busy")
    }
  }

  /** Without a user: the users who have posted lately. */
  async #offer(signal) {
    const { items, included } = await this.app.api.get("/v1/posts", { limit: 100, include: "author" }, { signal })
    const authors = [...new Set(items.map(post => post.author))].slice(0, 12)
    const pick = author => () => {
      this.form.elements.author.value = author
      this.#change()
    }
    const choices = authors.map(author => h("button", { type: "button", onclick: pick(author) }, authorOf({ author }, included?.users)))
    show(this.days, h("p", { class: "empty" }, authors.length ? "Whose month? These have posted lately:" : "Whose month? Enter the id of a user."),
      h("div", { class: "row" }, choices))
  }

  #draw(days) {
    const byDate = new Map(days.map(day => [day.date, day]))
    const [year, number] = this.month.split("-").map(Number)
    const length = new Date(Date.UTC(year, number, 0)).getUTCDate()
    const offset = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7
    const cells = [...Array(length).keys()].map(index => {
      const date = `${this.month}-${two(index + 1)}`
      const style = index === 0 ? { "grid-column-start": `${offset + 1}` } : {}
      return this.#cell(date, byDate.get(date), style)
    })
    const total = days.reduce((sum, day) => sum + day.posts, 0)
    show(this.days, h("div", { class: "month-head", "aria-hidden": "true" }, weekdays.map(([short]) => h("span", {}, short))),
      h("ol", { class: "month", "aria-label": `${this.title.textContent}, days`, onkeydown: event => this.#key(event) }, cells),
      h("p", { class: "quiet" }, total ? `${counted(total, "post")} on ${counted(days.length, "day")}, in the time of ${zone}.`
        : `${this.author} has no posts in this month.`))
  }

  #cell(date, day, style) {
    const number = Number(date.slice(-2))
    const words = dayName.format(new Date(`${date}T00:00:00Z`))
    const mark = date === today() ? "is-today" : ""
    const sign = h("span", { class: "month-number" }, number)
    if (!day) return h("li", { class: mark, style, data: { date } }, sign)
    const label = `${words}, ${counted(day.posts, "post")}`
    const link = h("a", { href: this.app.address(`post/${day.post}`), "aria-label": label }, day.image && picture(day.image), sign)
    const open = () => this.#open(date, words)
    const all = { type: "button", class: "month-more", "aria-label": `Show all ${day.posts} posts of ${words}`, onclick: open }
    return h("li", { class: `has-posts ${mark}`, style, data: { date, post: day.post } }, link, day.posts > 1 && h("button", all, `${day.posts}`))
  }

  /** Adds what only the posts have: the preview, and the sign of a post without a picture. */
  #enrich(posts) {
    const found = new Map(posts.map(post => [post.id, post]))
    for (const cell of this.days.querySelectorAll("li[data-post]")) {
      const post = found.get(cell.dataset.post)
      const link = cell.querySelector("a")
      const image = link.querySelector("img")
      if (post && !image) link.prepend(tile(post))
      if (image && post?.assets?.preview) this.#preview(link, image, image.src, post.assets.preview.url)
    }
  }

  /** Plays the preview while the pointer or the focus is on the day. */
  #preview(link, image, still, preview) {
    link.dataset.preview = preview
    const start = () => {
      if (prefersStillness()) return
      image.src = preview
      link.classList.add("is-playing")
    }
    const stop = () => {
      if (link.matches(":hover") || link === document.activeElement) return
      image.src = still
      link.classList.remove("is-playing")
    }
    link.addEventListener("mouseenter", start)
    link.addEventListener("focus", start)
    link.addEventListener("mouseleave", stop)
    link.addEventListener("blur", () => setTimeout(stop))
    if (link.matches(":hover") || link === document.activeElement) start()
  }

  /** Arrow keys go from one day with posts to the next one. */
  #key(event) {
    const days = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key]
    const current = event.target.closest("li")
    if (!days || !current) return
    event.preventDefault()
    const cells = [...current.parentElement.children]
    for (let index = cells.indexOf(current) + days; index >= 0 && index < cells.length; index += Math.abs(days) === 7 ? days : Math.sign(days)) {
      const link = cells[index].querySelector("a")
      if (link) return link.focus()
    }
  }

  /** Shows all posts of a day below the month. */
  async #open(date, words) {
    this.#opened = date
    const [year, month, day] = date.split("-").map(Number)
    const [from, to] = [0, 1].map(shift => new Date(year, month - 1, day + shift).toISOString())
    try {
      const filter = { author: this.author, sort: "taken", from, to, limit: 100, include: "author", visibility: this.audience || audiences }
      const { items, included } = await this.app.api.get("/v1/posts", filter, { signal: this.signal })
      if (this.#opened !== date) return
      const section = h("section", { class: "card", "aria-label": words, tabindex: "-1" }, h("h2", {}, words),
        h("ol", { class: "map-rows is-wide" }, items.map(post => this.#row(post, included?.users))))
      show(this.day, section)
      section.focus()
    } catch (error) {
      this.#refuse(error, this.day, () => this.#open(date, words))
    }
  }

  #row(post, users) {
    const title = post.title ?? post.caption ?? kinds[post.kind] ?? post.kind
    return h("li", {}, h("a", { href: this.app.address(`post/${post.id}`), "aria-label": phrase(post, users) }, tile(post),
      h("span", {}, h("b", {}, title), h("small", { title: exactly(post.created_at) }, time(post.captured_at ?? post.created_at)),
        h("small", {}, countsOf(post) || kinds[post.kind]))))
  }
}
