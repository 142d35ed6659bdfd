// Paints the base map on a canvas: land, borders, names, and lines of longitude and latitude.

import { borders, cities, countries, land } from "./basemap.js"
import { project, unproject } from "./mercator.js"
import { h } from "./ui.js"

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
export class Painter {
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
