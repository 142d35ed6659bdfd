// Moments on a map: the posts of a day where they are, pins that are close as one with their number, and a glow where much happens. It reads
// only what comes into the frame: the numbers of posts by parts of it, and the posts themselves once there are not too many.

import { around, clusters, reach } from "./clusters.js"
import { authorOf, coordinateOf, kinds, phrase, tile } from "./glance.js"
import { MapCard } from "./mapcard.js"
import { MapFilter } from "./mapfilter.js"
import { project } from "./mercator.js"
import { region } from "./region.js"
import { counted, h, icon, show, time } from "./ui.js"
import { World } from "./world.js"

/** How many posts have a pin each at most; more are shown by their numbers. */
const limit = 300
/** The zoom from which on there are always pins. */
const close = 15
const rows = 60
const compact = new Intl.NumberFormat("en", { notation: "compact" })

export default async function (panel, context) {
  const { query } = context
  const view = new MapView(context)
  show(panel, view.element)
  view.begin(query.get("at"))
}

class MapView {
  /** What the latest reading has found; null before it. */
  #loaded = null
  /** The reading that runs: `{frame, zoom, x}`, and what ends it. */
  #coming = null
  #loading = null
  /** The pins by their keys: `{element, coordinate}`. */
  #pins = new Map()
  #glows = []
  /** The reading whose glows are shown. */
  #glowing = null
  /** What the list shows, as a text to compare. */
  #listed = ""
  /** Whether the address, a person or the first posts have placed the map. */
  #isPlaced = false

  constructor({ app, query, signal, remember }) {
    Object.assign(this, { app, signal, remember })
    this.filter = new MapFilter(query, () => this.#change())
    this.#build()
    this.world = new World(this.map, { signal, onmove: () => this.#place(), onrest: () => this.#rest() })
    this.map.addEventListener("click", event => this.#isBeside(event) && this.card.close(), { signal })
    this.card = new MapCard({ app, map: this.map, world: this.world, pinOf: key => this.#pins.get(key)?.element })
  }

  /** Shows the place of the address, `longitude,latitude,zoom`, or the whole world and then where posts are. */
  begin(at) {
    this.world.resize()
    const [longitude, latitude, zoom] = (at ?? "").split(",").map(Number)
    this.#isPlaced = [longitude, latitude, zoom].every(Number.isFinite) && Math.abs(latitude) < 86
    this.world.look(this.#isPlaced ? { longitude, latitude, zoom } : { longitude: 5, latitude: 25, zoom: this.world.least })
    this.world.draw()
    this.app.every(30, this.signal, () => this.#load({ isForced: true, throws: true }))
  }

  // MARK: Parts

  #build() {
    const tool = (label, sign, run) => h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: run }, sign)
    this.glowLayer = h("div", { class: "map-layer", "aria-hidden": "true" })
    this.pinLayer = h("div", { class: "map-layer map-pins" })
    this.scale = h("span", { class: "map-scale", "aria-hidden": "true" })
    this.note = h("div", { class: "map-note", data: { apart: "" }, hidden: true })
    const fly = step => this.world.fly({ ...this.world.center, zoom: this.world.zoom + step })
    this.map = h("div", {
      class: "map", tabindex: "0", role: "application", "aria-busy": "true", onkeydown: event => event.key === "Escape" && this.card.close(),
      "aria-label": "Map of posts. Arrow keys move it, plus and minus zoom, Home shows the world.",
    }, this.glowLayer, this.pinLayer,
    h("div", { class: "map-tools", data: { apart: "" } }, tool("Zoom in", "+", () => fly(1)), tool("Zoom out", "−", () => fly(-1)),
      tool("Show the whole world", icon("world"), () => this.world.fly({ longitude: 5, latitude: 25, zoom: this.world.least }))),
    this.note, h("div", { class: "map-foot" }, this.scale, h("span", { class: "map-source" }, "Map: Natural Earth")))
    this.status = h("p", { role: "status", class: "quiet" }, "Reading…")
    this.list = h("ol", { class: "map-rows" })
    const aside = h("section", { class: "card map-list", "aria-label": "Posts in sight", tabindex: "-1" },
      h("h2", {}, "In sight"), this.status, this.list)
    const skip = h("button", { class: "skip", type: "button", onclick: () => aside.focus() }, "Skip the map")
    this.element = h("div", { class: "stack" }, this.filter.form, h("div", { class: "map-view" }, skip, this.map, aside))
  }

  // MARK: The address

  #change() {
    // A visitor who has found nothing yet, and has not moved, is led to the posts.
    if (!this.#loaded?.total && this.world.zoom < this.world.least + 0.1) this.#isPlaced = false
    this.card.close()
    this.#keep()
    this.#move({ isForced: true })
  }

  /** Puts the filters and the place into the address. */
  #keep() {
    const { longitude, latitude } = this.world.center
    this.remember({ ...this.filter.address, at: `${longitude.toFixed(4)},${latitude.toFixed(4)},${this.world.zoom.toFixed(2)}` })
  }

  // MARK: Reading

  #rest() {
    if (this.#isPlaced) this.#keep()
    this.#move()
  }

  /** Reads what a movement or a filter has brought into the frame. */
  #move(options = {}) { this.#load(options).catch(error => this.app.failed(error)) }

  /** Whether a reading covers the frame, at about its zoom. */
  #isCoveredBy(reading) {
    const { world } = this
    if (!reading) return false
    const { frame: whole, x, zoom, posts, isCut } = reading
    if (Math.abs(world.zoom - zoom) > (isCut ? 0.3 : posts ? 1.5 : 0.8)) return false
    const [frame, shift] = [world.frame, Math.round(x - world.x)]
    return frame.west + shift >= whole.west && frame.east + shift <= whole.east && frame.north >= whole.north && frame.south <= whole.south
  }

  async #load({ isForced = false, throws = false }) {
    if (!isForced && this.#isCoveredBy(this.#coming)) return
    if (!isForced && !this.#coming && this.#isCoveredBy(this.#loaded)) return this.#draw()
    this.#loading?.abort()
    const turn = this.#loading = new AbortController()
    const signal = AbortSignal.any([this.signal, turn.signal])
    const { world } = this
    const [margin, { west, east, north, south }] = [0.2, world.frame]
    const [across, down] = [(east - west) * margin, (south - north) * margin]
    // Beyond its edges the world has no posts.
    const frame = east - west + 2 * across >= 1 ? { west: -Infinity, east: Infinity } : { west: west - across, east: east + across }
    const loaded = { zoom: world.zoom, x: world.x, frame: { ...frame, north: north - down, south: south + down } }
    const filter = { ...this.filter.parameters, box: world.box(margin).join(",") }
    this.#coming = loaded
    this.map.setAttribute("aria-busy", "true")
    try {
      const found = await this.app.api.get("/v1/map", filter, { signal })
      const total = found.cells.reduce((sum, cell) => sum + cell.posts, 0)
      const isFew = total <= limit || loaded.zoom >= close
      const read = !total ? { posts: [] } : isFew ? await this.#read(filter, signal) : { posts: null }
      const isRounded = Boolean(filter.from) && ["from", "to"].some(key => Date.parse(found[key]) !== Date.parse(filter[key]))
      this.#loaded = { ...loaded, ...read, cells: found.cells, level: found.level, period: found.period, total, isRounded }
      if (!this.#isPlaced && total) this.#findPosts()
      this.#isPlaced = true
      this.#say(null)
      this.#draw()
    } catch (error) {
      if (signal.aborted) return
      if (throws || error.status === 401) throw error
      this.#say([error.status ? `${error.title ?? error.status}. ${error.detail ?? ""}` : "The service does not answer.",
        h("button", { type: "button", onclick: () => this.#move({ isForced: true }) }, "Try again")])
    } finally {
      if (this.#loading === turn) {
        this.#coming = null
        this.map.setAttribute("aria-busy", "false")
      }
    }
  }

  /** Reads the posts of a box, up to the limit. */
  async #read(filter, signal) {
    const [posts, users] = [[], {}]
    let cursor = null
    do {
      const page = await this.app.api.get("/v1/posts", { ...filter, include: "author,place", limit: 100, ...(cursor && { cursor }) }, { signal })
      Object.assign(users, page.included?.users)
      for (const post of page.items) {
        const coordinate = coordinateOf(post, page.included?.places)
        if (coordinate) posts.push({ post, coordinate })
      }
      cursor = page.next
    } while (cursor && posts.length < limit)
    return { posts, users, isCut: Boolean(cursor) }
  }

  /** At the beginning the map goes where posts are, if that is not all around the world. */
  #findPosts() {
    const points = this.#loaded.posts?.map(each => each.coordinate) ?? this.#loaded.cells.map(cell => cell.center)
    const [longitudes, latitudes] = [points.map(each => each.longitude), points.map(each => each.latitude)]
    const box = [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)]
    if (points.length && box[2] - box[0] < 150) this.world.fit(box, { border: 70, greatest: 6 })
  }

  // MARK: Drawing

  #draw() {
    if (!this.#loaded) return
    this.#drawGlows()
    this.#drawPins()
    this.#drawList()
    this.#place()
  }

  /** The parts with most posts glow, the more the brighter. */
  #drawGlows() {
    if (this.#glowing === this.#loaded) return
    this.#glowing = this.#loaded
    const { cells, level } = this.#loaded
    const top = cells[0]?.posts ?? 0
    const hot = cells.filter(cell => cell.posts > 1 && cell.posts >= top / 12).slice(0, 60)
    this.#glows = hot.map((cell, index) => {
      const style = { "--heat": (0.25 + 0.6 * Math.sqrt(cell.posts / Math.max(8, top))).toFixed(2) }
      const element = h("span", { class: "map-glow", data: { posts: cell.posts }, style })
      if (index < 3 && cell.posts > 4) element.classList.add("is-hottest")
      return { element, coordinate: cell.center, degrees: 22.5 / 2 ** level }
    })
    show(this.glowLayer, this.#glows.map(glow => glow.element))
  }

  #drawPins() {
    const spots = clusters(this.#loaded, this.world)
    const former = this.#pins
    this.#pins = new Map()
    for (const spot of spots) {
      const known = former.get(spot.key)
      this.#pins.set(spot.key, known ? { ...known, ...spot } : { ...spot, element: this.#pin(spot) })
      const { element } = this.#pins.get(spot.key)
      if (known) Object.assign(element.dataset, spot.coordinate)
      else this.pinLayer.append(element)
    }
    for (const [key, { element }] of former) {
      if (this.#pins.has(key)) continue
      if (element === document.activeElement) this.map.focus({ preventScroll: true })
      element.remove()
    }
  }

  #pin(spot) {
    const { longitude, latitude } = spot.coordinate
    const latest = () => this.#pins.get(spot.key) ?? spot
    const open = run => event => {
      // The end of a drag is no click; one by a key has no detail.
      if (this.world.isDragged && event.detail) return
      run()
    }
    if (spot.post) {
      return h("button", {
        type: "button", class: `pin kind-${spot.post.kind}`, data: { post: spot.post.id, longitude, latitude }, "aria-haspopup": "dialog",
        "aria-label": phrase(spot.post, this.#loaded.users), onclick: open(() => this.card.openPost(latest(), this.#loaded.users)),
      }, tile(spot.post))
    }
    const label = `${counted(spot.number, "post")}, ${region(spot.coordinate)}`
    const size = Math.min(64, 36 + 7 * Math.log10(spot.number))
    return h("button", {
      type: "button", class: `pin group ${spot.members ? "" : "is-number"}`, style: { "--size": `${Math.round(size)}px` },
      data: { group: spot.number, longitude, latitude }, "aria-label": label, title: label,
      onclick: open(() => this.#openGroup(latest())),
    }, spot.members && tile(spot.members[0].post), h("b", {}, compact.format(spot.number)))
  }

  /** Puts what lies on the map where it belongs; runs for each frame. */
  #place() {
    const { world } = this
    for (const { element, coordinate } of this.#pins.values()) {
      const point = world.point(coordinate)
      element.hidden = !world.shows(point, 36)
      element.style.translate = `${point.x.toFixed(2)}px ${point.y.toFixed(2)}px`
    }
    for (const { element, coordinate, degrees } of this.#glows) {
      const point = world.point(coordinate)
      element.hidden = !world.shows(point, 160)
      element.style.translate = `${point.x.toFixed(1)}px ${point.y.toFixed(1)}px`
      element.style.scale = `${Math.min(2.6, Math.max(0.9, degrees / 360 * world.scale * 0.022)).toFixed(3)}`
    }
    const { width, text } = world.measure
    this.scale.style.width = `${width.toFixed(0)}px`
    if (this.scale.textContent !== text) this.scale.textContent = text
    this.card.place()
  }

  // MARK: The list beside the map

  #drawList() {
    const { posts, users, isCut, isRounded, period } = this.#loaded
    const isSeen = each => this.world.shows(this.world.point(each.coordinate))
    const seen = posts?.filter(isSeen)
    const groups = posts ? [] : [...this.#pins.values()].filter(isSeen).sort((a, b) => b.number - a.number)
    const number = posts ? seen.length : groups.reduce((sum, each) => sum + each.number, 0)
    const nothing = `No posts with a location here ${this.filter.when}.`
    const words = posts
      ? number ? `${counted(number, "post")} with a location ${this.filter.when}${isCut ? ", the newest of more: zoom in to see all" : ""}.` : nothing
      : `About ${counted(number, "post")} with a location ${this.filter.when}. Zoom in to see each.${isRounded ? ` They count by whole ${period}s in UTC.` : ""}`
    // A screen reader reads it only when it has changed.
    if (this.status.textContent !== words) this.status.textContent = words
    const canWiden = this.filter.values.span !== "all"
    this.#say(posts && !number ? [nothing, canWiden && h("button", { type: "button", onclick: () => this.filter.widen() }, "Show all time")] : null)
    const key = posts ? `${number} ${seen.slice(0, rows).map(each => `${each.post.id}${each.post.updated_at}`)}` : groups.map(each => each.key).join()
    if (key === this.#listed) return
    this.#listed = key
    const active = document.activeElement
    const focused = this.list.contains(active) ? [active.closest("li").dataset.of, active.tagName] : null
    show(this.list, posts ? seen.slice(0, rows).map(each => this.#row(each, users)) : groups.slice(0, 15).map(group => this.#groupRow(group)),
      posts && number > rows && h("li", { class: "quiet" }, `and ${counted(number - rows, "post")} more on the map`))
    if (!focused) return
    const again = [...this.list.children].find(each => each.dataset.of === focused[0])?.querySelector(focused[1])
    if (again) again.focus({ preventScroll: true })
    else this.list.parentElement.focus({ preventScroll: true })
  }

  #row({ post, coordinate }, users) {
    const lit = isLit => () => this.#pinOf(post)?.element.classList.toggle("is-lit", isLit)
    const label = `Show the post by ${authorOf(post, users)} on the map`
    const find = { class: "icon-button", type: "button", "aria-label": label, onclick: () => this.#find(post, coordinate) }
    return h("li", { data: { of: post.id }, onmouseenter: lit(true), onmouseleave: lit(false), onfocusin: lit(true), onfocusout: lit(false) },
      h("a", { href: this.app.address(`post/${post.id}`) }, tile(post),
        h("span", {}, h("b", {}, authorOf(post, users)), h("small", {}, kinds[post.kind] ?? post.kind, " · ", time(post.created_at)),
          h("small", {}, post.place?.name ?? region(coordinate)))),
      h("button", find, icon("moments")))
  }

  #groupRow(group) {
    return h("li", { data: { of: group.key } }, h("button", { type: "button", onclick: () => this.#openGroup(group) },
      h("b", {}, counted(group.number, "post")), h("small", {}, region(group.coordinate))))
  }

  #pinOf(post) { return [...this.#pins.values()].find(each => each.members?.some(member => member.post.id === post.id)) }

  /** Opens the card of a post over its pin, and first goes there if it is not alone. */
  #find(post, coordinate) {
    const pin = this.#pinOf(post)
    if (!pin?.post) this.world.fly({ ...coordinate, zoom: Math.max(this.world.zoom + 2, 13) })
    this.card.openPost({ key: post.id, post, coordinate }, this.#loaded.users)
    this.map.scrollIntoView({ block: "nearest" })
  }

  #openGroup(group) {
    if (!group.members) return this.world.fit(group.box, { border: 30 })
    const box = around(group.members.map(({ coordinate: { longitude, latitude } }) => [longitude, latitude, longitude, latitude]))
    const [a, b] = [project({ longitude: box[0], latitude: box[3] }), project({ longitude: box[2], latitude: box[1] })]
    const width = Math.hypot(b.x - a.x, b.y - a.y) * 256 * 2 ** this.world.greatest
    if (width > reach * 1.5 && this.world.zoom < this.world.greatest - 0.1) return this.world.fit(box, { border: 80, greatest: this.world.greatest })
    // At one spot no zoom parts them.
    this.card.open(group, `${counted(group.number, "post")} at one spot`, h("h3", {}, `${counted(group.number, "post")} at one spot`),
      h("ol", { class: "map-rows" }, group.members.slice(0, rows).map(each => this.#row(each, this.#loaded.users))))
  }

  #isBeside(event) { return this.card.isOpen && !this.world.isDragged && !event.target.closest("[data-apart], button") }

  /** A note on the map; null hides it. */
  #say(content) {
    if (content && !this.note.hidden && this.note.firstChild.textContent === content[0]) return
    this.note.hidden = !content
    show(this.note, content)
  }
}
