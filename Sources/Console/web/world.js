// A map of the world in Web Mercator: paints the base map on a canvas, and moves by pointer, wheel, pinch and keys. What lies on it is of the caller.

import { borders, cities, countries, land } from "./basemap.js"
import { count, h } from "./ui.js"

/** The width of the world at zoom 0, in pixels. */
export const tile = 256
/** The greatest latitude of the map, north and south: there the world is a square. */
export const edge = 85.0511287798

const range = (low, value, high) => Math.min(high, Math.max(low, value))
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches

/** Where a coordinate lies in the world, from 0 to 1 eastwards and southwards. */
export function project({ longitude, latitude }) {
  const sine = Math.sin(range(-edge, latitude, edge) * Math.PI / 180)
  return { x: longitude / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) }
}

/** The coordinate of a point of the world. */
export function unproject({ x, y }) {
  return { longitude: (x - 0.5) * 360, latitude: 90 - 360 * Math.atan(Math.exp((y - 0.5) * 2 * Math.PI)) / Math.PI }
}

/** A longitude between -180 and 180. */
export const wrapped = longitude => ((longitude + 180) % 360 + 360) % 360 - 180

/** The distance of two coordinates, in kilometers. */
function distance(a, b) {
  const radians = Math.PI / 180
  const part = Math.sin((b.latitude - a.latitude) * radians / 2) ** 2
    + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * Math.sin((b.longitude - a.longitude) * radians / 2) ** 2
  return 12742 * Math.asin(Math.sqrt(Math.min(1, part)))
}

/** Degrees with the half of the globe: 52.52° N, 13.40° E. */
export const degrees = ({ longitude, latitude }) =>
  `${Math.abs(latitude).toFixed(2)}° ${latitude < 0 ? "S" : "N"}, ${Math.abs(longitude).toFixed(2)}° ${longitude < 0 ? "W" : "E"}`

/** Where a coordinate is, in words: the city, or the one that it is near, or degrees. */
export function region(coordinate) {
  let [best, kilometers] = [null, Infinity]
  for (const [name, longitude, latitude] of cities) {
    const each = distance(coordinate, { longitude, latitude })
    if (each < kilometers) [best, kilometers] = [name, each]
  }
  return kilometers < 25 ? best : kilometers < 300 ? `near ${best}` : degrees(coordinate)
}

// MARK: The base map

const alphabet = new Map([..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"].map((character, index) => [character, index]))

/** Reads lines as Sources/Packaging/basemap.py writes them, projected: `{points: [x, y, x, y, …], west, north, east, south}`. */
function lines(text) {
  let at = 0, longitude = 0, latitude = 0
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 5) {
      const digit = alphabet.get(text[at++])
      value |= (digit & 31) << shift
      if (digit < 32) return value
    }
  }
  const difference = () => {
    const value = number()
    return value & 1 ? -(value + 1) / 2 : value / 2
  }
  const found = []
  while (at < text.length) {
    const points = new Float64Array(2 * number())
    const line = { points, west: 1, north: 1, east: 0, south: 0 }
    for (let i = 0; i < points.length; i += 2) {
      longitude += difference()
      latitude += difference()
      const { x, y } = project({ longitude: longitude / 50, latitude: latitude / 50 })
      points[i] = x
      points[i + 1] = y
      line.west = Math.min(line.west, x)
      line.east = Math.max(line.east, x)
      line.north = Math.min(line.north, y)
      line.south = Math.max(line.south, y)
    }
    found.push(line)
  }
  return found
}

let read
/** The lines and the names of the base map, which are read once. */
function base() {
  read ??= {
    land: lines(land), borders: lines(borders),
    countries: countries.map(([name, longitude, latitude, rank]) => ({ name, rank, ...project({ longitude, latitude }) })),
    cities: cities.map(([name, longitude, latitude], index) => ({ name, index, ...project({ longitude, latitude }) })),
  }
  return read
}

/** The steps of the lines of longitude and latitude, in degrees. */
const steps = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]

/** Paints the base map of a world on its canvas. */
class Painter {
  #colors
  #widths = new Map()

  constructor(world, canvas) {
    this.world = world
    this.canvas = canvas
    this.context = canvas.getContext("2d")
  }

  /** Reads the colours of the theme again. */
  forget() { this.#colors = null }

  get colors() {
    if (this.#colors) return this.#colors
    const probe = h("i", { hidden: true })
    this.canvas.after(probe)
    const color = name => {
      probe.style.color = `var(--${name})`
      return getComputedStyle(probe).color
    }
    this.#colors = {
      sea: color("map-sea"), land: color("map-land"), coast: color("map-coast"), border: color("map-border"),
      name: color("quiet"), city: color("text"),
    }
    probe.remove()
    return this.#colors
  }

  paint() {
    if (!this.canvas.isConnected) return
    const { world, context, colors } = this
    const ratio = Math.min(2, devicePixelRatio || 1)
    const [width, height] = [Math.round(world.width * ratio), Math.round(world.height * ratio)]
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height })
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.fillStyle = colors.sea
    context.fillRect(0, 0, world.width, world.height)
    context.lineJoin = "round"
    this.#grid()
    context.beginPath()
    this.#trace(base().land, false)
    context.fillStyle = colors.land
    context.fill("evenodd")
    context.beginPath()
    this.#trace(base().land, true)
    context.strokeStyle = colors.coast
    context.lineWidth = 1
    context.stroke()
    context.beginPath()
    this.#trace(base().borders, true)
    context.strokeStyle = colors.border
    context.lineWidth = world.zoom > 4 ? 1.2 : 0.7
    context.stroke()
    this.#names()
  }

  /** The copies of the world that the frame shows, as the numbers of their widths from the middle one. */
  #copies(line) {
    const { west, east, north, south } = this.world.frame
    if (line.south < north || line.north > south) return []
    return [-1, 0, 1].filter(copy => line.east + copy >= west && line.west + copy <= east)
  }

  /** Adds lines to the path. Open ones leave out where a polygon is cut at 180°. */
  #trace(all, isOpen) {
    const { context, world } = this
    const { scale, left, top } = world
    for (const line of all) {
      for (const copy of this.#copies(line)) {
        const { points } = line
        let [lastX, lastY] = [NaN, NaN]
        for (let i = 0; i < points.length; i += 2) {
          const x = (points[i] + copy) * scale - left
          const y = points[i + 1] * scale - top
          const isAtEdge = isOpen && i > 0 && Math.abs(points[i] - points[i - 2]) < 1e-9 && (points[i] < 1e-6 || points[i] > 1 - 1e-6)
          if (i === 0 || isAtEdge) context.moveTo(x, y)
          else if (Math.abs(x - lastX) + Math.abs(y - lastY) < 0.7 && i < points.length - 2) continue
          else context.lineTo(x, y)
          lastX = x
          lastY = y
        }
        if (!isOpen) context.closePath()
      }
    }
  }

  /** Lines of longitude and latitude: where there is only land or sea, they show that the map moves. */
  #grid() {
    const { context, world, colors } = this
    const step = steps.find(each => each / 360 * world.scale < 260) ?? steps.at(-1)
    const { longitude: west, latitude: north } = unproject({ x: world.frame.west, y: world.frame.north })
    const { longitude: east, latitude: south } = unproject({ x: world.frame.east, y: world.frame.south })
    context.beginPath()
    for (let longitude = Math.ceil(west / step) * step; longitude <= east; longitude += step) {
      const x = Math.round(project({ longitude, latitude: 0 }).x * world.scale - world.left) + 0.5
      context.moveTo(x, 0)
      context.lineTo(x, world.height)
    }
    for (let latitude = Math.ceil(south / step) * step; latitude <= north; latitude += step) {
      const y = Math.round(project({ longitude: 0, latitude }).y * world.scale - world.top) + 0.5
      context.moveTo(0, y)
      context.lineTo(world.width, y)
    }
    context.strokeStyle = colors.border
    context.lineWidth = 0.35
    context.stroke()
  }

  /** Names of countries and cities, the important ones first, as far as there is space. */
  #names() {
    const { world, context, colors } = this
    const { zoom } = world
    const taken = []
    const write = (text, x, y, { font, color, dot }) => {
      context.font = font
      const key = font + text
      if (!this.#widths.has(key)) this.#widths.set(key, context.measureText(text).width)
      const width = this.#widths.get(key)
      const left = dot ? x - 4 : x - width / 2 - 6
      const box = { left, right: left + width + (dot ? 16 : 12), top: y - 9, bottom: y + 9 }
      if (taken.some(other => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top)) return
      taken.push(box)
      context.fillStyle = color
      if (dot) {
        context.beginPath()
        context.arc(x, y, 2.2, 0, 7)
        context.fill()
      }
      context.textAlign = dot ? "left" : "center"
      context.textBaseline = "middle"
      context.strokeStyle = colors.land
      context.lineWidth = 3
      context.strokeText(text, x + (dot ? 6 : 0), y)
      context.fillText(text, x + (dot ? 6 : 0), y)
    }
    const seen = (each, body) => {
      for (const copy of [-1, 0, 1]) {
        const [x, y] = [(each.x + copy) * world.scale - world.left, each.y * world.scale - world.top]
        if (x > -60 && x < world.width + 60 && y > -10 && y < world.height + 10) body(x, y)
      }
    }
    const family = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
    if (zoom >= 2.2 && zoom < 7.5) {
      for (const country of base().countries) {
        if (zoom >= 1 + country.rank * 0.75) {
          seen(country, (x, y) => write(country.name, x, y, { font: `600 ${country.rank < 4 ? 12 : 11}px ${family}`, color: colors.name }))
        }
      }
    }
    if (zoom < 3.4) return
    for (const city of base().cities.slice(0, Math.round(24 * 2 ** ((zoom - 3.4) * 1.4)))) {
      seen(city, (x, y) => write(city.name, x, y, { font: `11px ${family}`, color: colors.city, dot: true }))
    }
  }
}

// MARK: Movement

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
    this.zoom = range(this.least, this.zoom, Math.max(this.least, this.greatest))
    this.x -= Math.floor(this.x)
    const half = this.height / 2 / this.scale
    this.y = range(half, this.y, 1 - half)
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
    this.zoom = range(this.least, this.zoom + amount, this.greatest)
    this.x = x + (this.width / 2 - at.x) / this.scale
    this.y = y + (this.height / 2 - at.y) / this.scale
    this.changed()
  }

  /** Moves there within a third of a second. */
  fly({ longitude, latitude, zoom = this.zoom }) {
    this.stop()
    if (isCalm()) return this.look({ longitude, latitude, zoom })
    const from = { x: this.x, y: this.y, zoom: this.zoom }
    const to = { ...project({ longitude, latitude }), zoom: range(this.least, zoom, this.greatest) }
    to.x -= Math.round(to.x - from.x)
    const begin = performance.now()
    const turn = now => {
      const share = range(0, (now - begin) / 340, 1)
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
      this.zoomBy(range(-1, amount, 1), this.#at(event))
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
    if (!this.isDragged || event.timeStamp - at > 60 || Math.hypot(x, y) < 3 || isCalm()) return
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
