// The card of a post, or of posts at one spot, over its pin on the map.

import { authorOf, countsOf, kinds, phrase, tile } from "./glance.js"
import { region } from "./region.js"
import { badge, exactly, h, icon, time } from "./ui.js"

export class MapCard {
  /** The card that is open: `{element, coordinate, key, width, height}`. */
  #shown = null

  /** `pinOf(key)`: the element of a pin, which gets the focus back; null without it. */
  constructor({ app, map, world, pinOf }) { Object.assign(this, { app, map, world, pinOf }) }

  get isOpen() { return this.#shown !== null }

  /** Opens the card of a post; `users` has the authors that are known. */
  openPost(spot, users) {
    const { post, coordinate } = spot
    const page = this.app.address(`post/${post.id}`)
    const text = post.title ?? post.caption
    this.open(spot, phrase(post, users),
      h("a", { class: "map-card-image", href: page, tabindex: "-1", "aria-hidden": "true" }, tile(post)),
      h("div", { class: "map-card-text" },
        h("div", { class: "row" },
          h("a", { class: "map-card-author", href: this.app.address(`user/${encodeURIComponent(post.author)}`) }, authorOf(post, users)),
          post.status !== "ready" && badge(post.status), post.window?.state === "late" && badge("late")),
        text && h("p", { class: "map-card-caption" }, text),
        h("small", {}, kinds[post.kind] ?? post.kind, " · ", h("span", { title: exactly(post.created_at) }, time(post.created_at))),
        h("small", {}, post.place?.name ?? region(coordinate)),
        h("small", {}, countsOf(post) || "No likes or comments yet"),
        h("a", { class: "button", href: page }, "Open the post")))
  }

  /** Opens a card over a spot. */
  open(spot, label, ...content) {
    this.close()
    const end = { class: "icon-button map-card-close", type: "button", "aria-label": "Close", onclick: () => this.close() }
    const element = h("div", { class: "map-card", role: "dialog", "aria-label": label, tabindex: "-1", data: { apart: "" } },
      content, h("button", end, icon("close")))
    this.map.append(element)
    this.#shown = { element, coordinate: spot.coordinate, key: spot.key, width: element.offsetWidth, height: element.offsetHeight }
    this.place()
    element.focus({ preventScroll: true })
  }

  close() {
    if (!this.#shown) return
    const { element, key } = this.#shown
    this.#shown = null
    const hadFocus = element.contains(document.activeElement)
    element.remove()
    if (hadFocus) (this.pinOf(key) ?? this.map).focus({ preventScroll: true })
  }

  /** Above the pin or, without space there, below it. */
  place() {
    if (!this.#shown) return
    const { element, coordinate, width, height } = this.#shown
    const { world } = this
    const point = world.point(coordinate)
    const left = Math.min(world.width - width - 8, Math.max(8, point.x - width / 2))
    const top = point.y - height - 30 > 8 ? point.y - height - 30 : Math.min(world.height - height - 8, point.y + 30)
    element.hidden = !world.shows(point, 30)
    element.style.translate = `${left.toFixed(1)}px ${Math.max(8, top).toFixed(1)}px`
  }
}
