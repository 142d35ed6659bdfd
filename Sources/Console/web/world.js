// A map of the world, which moves by pointer, wheel, pinch and keys. What lies on it is of the caller.

import { project, unproject, wrapped } from "./mercator.js"
import { Painter } from "./painter.js"
import { clamped, count, h, prefersStillness } from "./ui.js"

/** The width of the world at zoom 0, in pixels. */
const tile = 256

/** The map in an element: its middle and its zoom, and how a person moves it. `onmove` follows each frame, `onrest` the end of a movement. */
export class World {
  width = 1
  height = 1
  zoom = 0
  x = 0.5
  y = 0.5
  greatest = 17
  /** Whether the last press of the pointer has moved the map: then it is no click. */
  isDragged = false
  #pointers = new Map()
  #glide = { x: 0, y: 0, at: 0 }
  #flight = 0
  #frame = 0
  #rest = 0

  constructor(element, { signal, onmove = () => {}, onrest = () => {} }) {
    Object.assign(this, { element, signal, onmove, onrest })
    const canvas = h("canvas", { class: "map-canvas", "aria-hidden": "true" })
    element.prepend(canvas)
    this.painter = new Painter(this, canvas)
    this.#listen()
    this.#watch()
  }

  // Geometry.

  /** The width of the world, in pixels. */
  get scale() { return tile * 2 ** this.zoom }
  get left() { return this.x * this.scale - this.width / 2 }
  get top() { return this.y * this.scale - this.height / 2 }
  /** The least zoom: the world fills the frame. */
  get least() { return Math.log2(Math.max(this.width, this.height) / tile) }
  /** The middle, as a coordinate. */
  get center() {
    const { longitude, latitude } = unproject(this)
    return { longitude: wrapped(longitude), latitude }
  }

  /** What the frame shows, in parts of the world; the west may be less than 0, and the east more than 1. */
  get frame() {
    const { scale, left, top } = this
    return { west: left / scale, north: top / scale, east: (left + this.width) / scale, south: (top + this.height) / scale }
  }

  /** Where a coordinate lies in the frame, in pixels: its copy that is nearest to the middle. */
  point(coordinate) {
    const { x, y } = project(coordinate)
    return { x: (x - Math.round(x - this.x)) * this.scale - this.left, y: y * this.scale - this.top }
  }

  /** Whether a point lies in the frame, or up to `margin` pixels beside it. */
  shows({ x, y }, margin = 0) {
    return x >= -margin && y >= -margin && x <= this.width + margin && y <= this.height + margin
  }

  /** The frame and `margin` of its size on each side, as west, south, east and north in degrees. Beyond 180° west is greater than east. */
  box(margin = 0) {
    const { west, north, east, south } = this.frame
    const [across, down] = [(east - west) * margin, (south - north) * margin]
    const corner = unproject({ x: west - across, y: Math.min(1, south + down) })
    const other = unproject({ x: east + across, y: Math.max(0, north - down) })
    const sides = other.longitude - corner.longitude >= 360 ? [-180, 180] : [wrapped(corner.longitude), wrapped(other.longitude)]
    return [sides[0], corner.latitude, sides[1], other.latitude].map(each => Number(each.toFixed(5)))
  }

  #hold() {
    this.zoom = clamped(this.zoom, this.least, Math.max(this.least, this.greatest))
    this.x -= Math.floor(this.x)
    const half = this.height / 2 / this.scale
    this.y = clamped(this.y, half, 1 - half)
  }

  // Ways to move.

  /** Moves at once. */
  look({ longitude, latitude, zoom = this.zoom }) {
    Object.assign(this, project({ longitude, latitude }), { zoom })
    this.changed()
  }

  pan(across, down) {
    this.x += across / this.scale
    this.y += down / this.scale
    this.changed()
  }

  /** Zooms so that the point of the frame stays where it is. */
  zoomBy(amount, at = { x: this.width / 2, y: this.height / 2 }) {
    const [x, y] = [(this.left + at.x) / this.scale, (this.top + at.y) / this.scale]
    this.zoom = clamped(this.zoom + amount, this.least, this.greatest)
    this.x = x + (this.width / 2 - at.x) / this.scale
    this.y = y + (this.height / 2 - at.y) / this.scale
    this.changed()
  }

  /** Moves there within a third of a second. */
  fly({ longitude, latitude, zoom = this.zoom }) {
    this.stop()
    if (prefersStillness()) return this.look({ longitude, latitude, zoom })
    const from = { x: this.x, y: this.y, zoom: this.zoom }
    const to = { ...project({ longitude, latitude }), zoom: clamped(zoom, this.least, this.greatest) }
    to.x -= Math.round(to.x - from.x)
    const begin = performance.now()
    const turn = now => {
      const share = clamped((now - begin) / 340, 0, 1)
      const eased = 1 - (1 - share) ** 3
      this.zoom = from.zoom + (to.zoom - from.zoom) * eased
      // Zooming in, the middle moves as fast as the scale grows, so that what the map flies to comes straight.
      const [start, end] = [2 ** from.zoom, 2 ** to.zoom]
      const way = Math.abs(end - start) < 1e-6 ? eased : (1 / start - 1 / 2 ** this.zoom) / (1 / start - 1 / end)
      this.x = from.x + (to.x - from.x) * way
      this.y = from.y + (to.y - from.y) * way
      this.changed()
      this.#flight = share < 1 && !this.signal.aborted ? requestAnimationFrame(turn) : 0
    }
    this.#flight = requestAnimationFrame(turn)
  }

  /** Flies to a box of degrees, as west, south, east and north, with a border. */
  fit([west, south, east, north], { border = 60, greatest = 16 } = {}) {
    const [a, b] = [project({ longitude: west, latitude: north }), project({ longitude: east < west ? east + 360 : east, latitude: south })]
    const zoom = Math.min(
      Math.log2(Math.max(40, this.width - 2 * border) / tile / Math.max(1e-9, b.x - a.x)),
      Math.log2(Math.max(40, this.height - 2 * border) / tile / Math.max(1e-9, b.y - a.y)), greatest)
    const { longitude, latitude } = unproject({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
    this.fly({ longitude, latitude, zoom })
  }

  /** Ends a flight. */
  stop() {
    cancelAnimationFrame(this.#flight)
    this.#flight = 0
    this.#glide = { x: 0, y: 0, at: 0 }
  }

  /** Paints the next frame, and says later that the map rests. */
  changed() {
    this.#hold()
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#pointers.size || this.#flight || this.signal.aborted || this.onrest(), 180)
    this.#frame ||= requestAnimationFrame(() => this.draw())
  }

  draw() {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    if (this.signal.aborted) return
    this.#hold()
    this.painter.paint()
    const { longitude, latitude } = this.center
    Object.assign(this.element.dataset, { center: `${longitude.toFixed(6)},${latitude.toFixed(6)}`, zoom: this.zoom.toFixed(4) })
    this.onmove()
  }

  /** Takes the size of the element. */
  resize() {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight]
    if (!width || !height || width === this.width && height === this.height) return
    Object.assign(this, { width, height })
    this.changed()
  }

  // Listeners.

  #watch() {
    const sizes = new ResizeObserver(() => this.resize())
    sizes.observe(this.element)
    const themes = new MutationObserver(() => { this.painter.forget(); this.changed() })
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] })
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.painter.forget(); this.changed() }, { signal: this.signal })
    this.signal.addEventListener("abort", () => {
      sizes.disconnect()
      themes.disconnect()
      this.stop()
      cancelAnimationFrame(this.#frame)
      clearTimeout(this.#rest)
    })
  }

  #listen() {
    const { element, signal } = this
    const on = (name, listener, options = {}) => element.addEventListener(name, listener, { signal, ...options })
    const isApart = event => event.target.closest("[data-apart]")
    on("pointerdown", event => isApart(event) || event.button !== 0 || this.#press(event))
    on("pointermove", event => this.#pointers.has(event.pointerId) && this.#drag(event))
    // A press that leaves the map ends elsewhere.
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, event => this.#release(event), { signal })
    on("wheel", event => {
      if (isApart(event)) return
      event.preventDefault()
      this.stop()
      const amount = -event.deltaY * (event.deltaMode === 1 ? 0.06 : event.ctrlKey ? 0.012 : 0.0025)
      this.zoomBy(clamped(amount, -1, 1), this.#at(event))
    }, { passive: false })
    on("dblclick", event => {
      if (isApart(event) || event.target.closest("button")) return
      const at = this.#at(event)
      const [x, y] = [(at.x + this.width / 2) / 2, (at.y + this.height / 2) / 2]
      this.fly({ ...unproject({ x: (this.left + x) / this.scale, y: (this.top + y) / this.scale }), zoom: this.zoom + 1 })
    })
    on("keydown", event => this.#key(event))
  }

  #at(event) {
    const frame = this.element.getBoundingClientRect()
    return { x: event.clientX - frame.left - this.element.clientLeft, y: event.clientY - frame.top - this.element.clientTop }
  }

  #press(event) {
    this.stop()
    if (!this.#pointers.size) this.isDragged = false
    this.#pointers.set(event.pointerId, { ...this.#at(event), start: this.#at(event) })
  }

  #drag(event) {
    const pointer = this.#pointers.get(event.pointerId)
    const now = this.#at(event)
    if (!this.isDragged) {
      if (Math.hypot(now.x - pointer.start.x, now.y - pointer.start.y) < 5) return
      this.isDragged = true
    }
    this.element.setPointerCapture(event.pointerId)
    const before = this.#spread()
    const [across, down] = [now.x - pointer.x, now.y - pointer.y]
    Object.assign(pointer, now)
    if (this.#pointers.size === 1) {
      this.#glide = { x: 0.7 * this.#glide.x + 0.3 * across, y: 0.7 * this.#glide.y + 0.3 * down, at: event.timeStamp }
      return this.pan(-across, -down)
    }
    const after = this.#spread()
    this.pan(before.x - after.x, before.y - after.y)
    if (before.size > 0 && after.size > 0) this.zoomBy(Math.log2(after.size / before.size), after)
  }

  /** The middle of the first two pointers, and how far they are apart. */
  #spread() {
    const [a, b = a] = [...this.#pointers.values()]
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, size: Math.hypot(a.x - b.x, a.y - b.y) }
  }

  #release(event) {
    if (!this.#pointers.delete(event.pointerId)) return
    if (this.#pointers.size) return
    const { x, y, at } = this.#glide
    this.changed()
    if (!this.isDragged || event.timeStamp - at > 60 || Math.hypot(x, y) < 3 || prefersStillness()) return
    let speed = { x, y }
    const turn = () => {
      this.#flight = 0
      speed = { x: speed.x * 0.92, y: speed.y * 0.92 }
      if (Math.hypot(speed.x, speed.y) > 0.4 && !this.signal.aborted) this.#flight = requestAnimationFrame(turn)
      this.pan(-speed.x, -speed.y)
    }
    this.#flight = requestAnimationFrame(turn)
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("[data-apart]")) return
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
    const way = ways[event.key]
    if (way) this.pan(way[0] * 90, way[1] * 90)
    else if (event.key === "+" || event.key === "=") this.fly({ ...this.center, zoom: this.zoom + 1 })
    else if (event.key === "-" || event.key === "_") this.fly({ ...this.center, zoom: this.zoom - 1 })
    else if (event.key === "Home") this.fly({ longitude: 0, latitude: 20, zoom: this.least })
    else return
    event.preventDefault()
  }

  /** A round distance and how wide it is in the middle of the frame: for the scale bar. */
  get measure() {
    const perPixel = 40075016 * Math.cos(this.center.latitude * Math.PI / 180) / this.scale
    const most = perPixel * 110
    const power = 10 ** Math.floor(Math.log10(most))
    const meters = [5, 2, 1].map(each => each * power).find(each => each <= most)
    return { width: meters / perPixel, text: meters < 1000 ? `${count(meters)} m` : `${count(meters / 1000)} km` }
  }
}
