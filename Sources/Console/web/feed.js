// The newest posts, as cards: filters, a player on demand, and new posts at a button as they come.

import { audiences, authorOf, countsOf, isPlayable, kindOptions, kinds, large, phrase, states, tile } from "./glance.js"
import { picture } from "./picture.js"
import { player } from "./player.js"
import { badge, counted, field, h, icon, pages, show, time } from "./ui.js"

export default async function (panel, context) {
  const feed = new Feed(context)
  show(panel, feed.element)
  feed.begin()
}

/** The new posts that wait for the button at most, and the pages of changes that are read at once at most. */
const maxNew = 99, maxPages = 5

class Feed {
  /** The cards that are shown, by the ids of their posts: `{element, post, isPlaying}`. */
  #cards = new Map()
  /** New posts that wait for the button. */
  #waiting = new Map()
  /** Whether more has changed than is followed: the button then reads the list from its beginning. */
  #isBehind = false
  #users = {}
  #turn = null
  /** The latest change that is known. */
  #since = null
  /** Whether the first page is there. */
  #isRead = false

  constructor({ app, query, signal, remember }) {
    Object.assign(this, { app, signal, remember })
    this.values = Object.fromEntries(["kind", "status", "author", "visibility"].map(name => [name, query.get(name) ?? ""]))
    this.#build()
  }

  #build() {
    const { kind, status, author, visibility } = this.values
    const submit = event => { event.preventDefault(); this.#change() }
    this.form = h("form", { class: "map-filters", "aria-label": "Filters", onsubmit: submit, onchange: () => this.#change() },
      field({ label: "Kind", name: "kind", value: kind, options: kindOptions }),
      field({ label: "Status", name: "status", value: status, options: [["", "Ready or processing"], ["any", "Any status"], ...states] }),
      field({ label: "Audience", name: "visibility", value: visibility, options: [["", "All audiences"], ...audiences] }),
      field({ label: "Author", name: "author", type: "search", value: author, placeholder: "All authors", autocomplete: "off" }))
    this.fresh = h("button", { class: "primary feed-new", type: "button", hidden: true, onclick: () => this.#isBehind ? this.begin() : this.#showNew() })
    this.news = h("div", { class: "feed-news", role: "status" }, this.fresh)
    this.cards = h("div", { class: "feed" })
    this.rest = h("div")
    this.element = h("div", { class: "stack" }, this.form, this.news, this.cards, this.rest)
  }

  #change() {
    const values = Object.fromEntries(new FormData(this.form))
    values.author = values.author.trim()
    if (Object.keys(values).every(name => values[name] === this.values[name])) return
    this.values = values
    this.remember(values)
    this.begin()
  }

  get #states() {
    const { status } = this.values
    return status === "any" ? states : status ? [status] : ["ready", "processing"]
  }

  get #filter() {
    const { kind, author, visibility } = this.values
    return { ...(kind && { kind }), ...(author && { author }), visibility: visibility || audiences }
  }

  /** Reads the list from its beginning. */
  begin() {
    this.#turn?.abort()
    const turn = this.#turn = new AbortController()
    const signal = AbortSignal.any([this.signal, turn.signal])
    for (const card of this.#cards.values()) if (card.isPlaying) card.stop()
    this.#cards.clear()
    this.#waiting.clear()
    this.#isRead = this.#isBehind = false
    this.#since = new Date(Date.now() - 60_000).toISOString()
    this.#sayNew()
    show(this.cards)
    const list = this.app.api.list("/v1/posts", { ...this.#filter, status: this.#states, include: "author", limit: 24 }, { signal })
    const draw = (items, included) => {
      Object.assign(this.#users, included?.users)
      return this.#draw(items)
    }
    show(this.rest, pages(list, { draw, into: this.cards, signal, empty: "No posts match these filters." }))
    this.app.every(5, signal, () => this.#follow(signal))
  }

  /** Draws a page of the list; a post that came meanwhile is there already. */
  #draw(items) {
    this.#isRead = true
    for (const post of items) this.#learn(post)
    return items.filter(post => !this.#cards.has(post.id)).map(post => this.#add(post))
  }

  #add(post) {
    const card = { post, element: this.#card(post), isPlaying: false }
    this.#cards.set(post.id, card)
    this.#waiting.delete(post.id)
    return card.element
  }

  #learn(post) { if (post.updated_at > this.#since) this.#since = post.updated_at }

  // MARK: What changes

  /** Reads what has changed since the latest change, less a minute: new posts wait for the button, others change in place. */
  async #follow(signal) {
    if (!this.#isRead) return
    const from = new Date(Date.parse(this.#since) - 60_000).toISOString()
    const query = { ...this.#filter, status: states, updated_since: from, include: "author", limit: 100 }
    let number = 0
    for await (const { items, next, included } of this.app.api.list("/v1/posts", query, { signal }).pages()) {
      Object.assign(this.#users, included?.users)
      this.#take(items)
      number += 1
      if (this.#waiting.size > maxNew || next && number === maxPages) this.#isBehind = true
      if (this.#isBehind) break
    }
    if (this.#isBehind) this.#waiting.clear()
    this.#sayNew()
  }

  #take(items) {
    // Posts older than all cards come with the next page.
    let oldest = null
    for (const { post } of this.#cards.values()) if (oldest === null || post.created_at < oldest) oldest = post.created_at
    for (const post of items) {
      this.#learn(post)
      const card = this.#cards.get(post.id)
      if (card) this.#replace(card, post)
      else if (!this.#states.includes(post.status)) this.#waiting.delete(post.id)
      else if (!this.#isBehind && post.created_at > (oldest ?? "")) this.#waiting.set(post.id, post)
    }
  }

  /** Draws a card again, unless it plays. */
  #replace(card, post) {
    if (card.post.updated_at === post.updated_at && card.post.status === post.status && countsOf(card.post) === countsOf(post)) return
    if (card.isPlaying) return
    card.post = post
    const index = [...card.element.querySelectorAll("a, button")].indexOf(document.activeElement)
    const element = this.#card(post)
    card.element.replaceWith(element)
    card.element = element
    if (index >= 0) element.querySelectorAll("a, button")[index]?.focus({ preventScroll: true })
  }

  #sayNew() {
    const number = this.#waiting.size
    this.fresh.hidden = !number && !this.#isBehind
    this.fresh.textContent = this.#isBehind ? "Many new: load again" : number ? `${number} new` : ""
    if (number) this.fresh.setAttribute("aria-label", `Show ${counted(number, "new post")}`)
    else this.fresh.removeAttribute("aria-label")
  }

  #showNew() {
    const posts = [...this.#waiting.values()].filter(post => !this.#cards.has(post.id)).sort((a, b) => a.created_at < b.created_at ? 1 : -1)
    this.#waiting.clear()
    this.#sayNew()
    this.cards.querySelector(":scope > .empty")?.remove()
    const elements = posts.map(post => this.#add(post))
    elements.forEach(element => element.classList.add("is-new"))
    this.cards.prepend(...elements)
    this.cards.querySelector("a, button")?.focus({ preventScroll: true })
    this.element.scrollIntoView({ block: "start" })
  }

  // MARK: Cards

  #card(post) {
    const page = this.app.address(`post/${post.id}`)
    const text = post.title ?? post.caption
    const users = this.#users
    const place = post.place?.name
    const state = post.window?.state
    return h("article", { class: `feed-card kind-${post.kind}`, data: { post: post.id, status: post.status }, "aria-label": phrase(post, users) },
      h("div", { class: "feed-media" }, this.#media(post, page)),
      h("div", { class: "feed-text" },
        h("div", { class: "row between" },
          h("a", { class: "feed-author", href: this.app.address(`user/${encodeURIComponent(post.author)}`) }, authorOf(post, users)),
          h("small", {}, time(post.created_at))),
        text && h("p", {}, text), place && h("small", { class: "feed-place" }, place),
        h("div", { class: "row" }, badge(post.status), post.visibility !== "public" && badge(post.visibility),
          state === "on_time" ? h("span", { class: "badge good" }, "on time") : state === "late" ? h("span", { class: "badge wait" }, "late") : null),
        post.reasons?.length > 0 && h("small", { class: "bad" }, post.reasons.map(reason => reason.code.replaceAll("_", " ")).join(", ")),
        h("div", { class: "row between" }, h("small", {}, countsOf(post) || kinds[post.kind]), h("a", { href: page }, "Open"))))
  }

  #media(post, page) {
    const asset = large(post)
    const alternative = post.alternative_text ?? ""
    const state = post.status === "processing" ? "In process" : post.title ?? kinds[post.kind]
    const still = asset ? picture(asset, { alt: alternative }) : h("div", { class: "feed-blank" }, tile(post), state)
    const link = h("a", { class: "feed-still", href: page, tabindex: "-1", "aria-hidden": alternative ? null : "true" }, still)
    const label = h("span", { class: "feed-kind" }, kinds[post.kind] ?? post.kind, post.photos?.length > 1 && ` · ${post.photos.length}`)
    if (!isPlayable(post)) return [link, label]
    const play = event => this.#play(post, event.currentTarget.parentElement)
    const words = `Play: ${phrase(post, this.#users)}`
    return [link, label, h("button", { class: "feed-play", type: "button", "aria-label": words, onclick: play }, icon("play"))]
  }

  /** Puts the player where the picture is; of the whole feed one card plays. */
  #play(post, media) {
    for (const card of this.#cards.values()) if (card.isPlaying) card.stop()
    const turn = new AbortController()
    const card = this.#cards.get(post.id)
    card.isPlaying = true
    card.stop = () => {
      card.isPlaying = false
      turn.abort()
      show(media, this.#media(card.post, this.app.address(`post/${post.id}`)))
    }
    const element = player(card.post, { app: this.app, signal: AbortSignal.any([this.signal, turn.signal]) })
    const end = () => {
      card.stop()
      media.querySelector(".feed-play")?.focus({ preventScroll: true })
    }
    const stop = { class: "icon-button feed-stop", type: "button", "aria-label": "Close the player", onclick: end }
    show(media, element, h("button", stop, icon("close")))
    media.querySelector("button, [tabindex='0']")?.focus({ preventScroll: true })
  }
}
