// The layout of a composition: its geometry as the service computes it (docs/definition.md), and controls that change it on a canvas at once.

import { seek } from "./bytes.js"
import { command, field, h, icon, section, show, storeNote } from "./ui.js"

/** What a definition without these keys means. */
export const standard = {
  canvas: { width: 1080, height: 1920, frames_per_second: 30, fit: "crop" },
  composed: { layout: "inset", inset: { width: 0.3, corner: "top-left", margin: 36, radius: 36 } },
}

const even = value => Math.max(2, Math.round(value / 2) * 2)
const half = edge => Math.floor(edge / 4) * 2

/** The largest even size with the shape of a frame in a box. */
function fitted(frame, box) {
  const scale = Math.min(box.width / frame.width, box.height / frame.height)
  return { width: Math.min(box.width, even(frame.width * scale)), height: Math.min(box.height, even(frame.height * scale)) }
}

/** The tiles from the lowest to the uppermost, each with its `clip`. `sizes` has the upright sizes of `background` and `foreground`.
 *  Positions and sizes are even, because 4:2:0 chroma has half the resolution. */
export function tiles(canvas, composed, sizes) {
  const tile = (clip, cell) => {
    if (canvas.fit !== "fit") return { clip, ...cell, radius: 0 }
    const size = fitted(sizes[clip], cell)
    return { clip, x: cell.x + half(cell.width - size.width), y: cell.y + half(cell.height - size.height), ...size, radius: 0 }
  }
  const { width, height } = canvas
  if (composed.layout === "side-by-side") {
    const left = half(width)
    return [tile("foreground", { x: 0, y: 0, width: left, height }), tile("background", { x: left, y: 0, width: width - left, height })]
  }
  if (composed.layout === "stacked") {
    const top = half(height)
    return [tile("foreground", { x: 0, y: 0, width, height: top }), tile("background", { x: 0, y: top, width, height: height - top })]
  }
  return [tile("background", { x: 0, y: 0, width, height }), inset(canvas, composed.inset ?? standard.composed.inset, sizes.foreground)]
}

function inset(canvas, settings, frame) {
  const width = even(canvas.width * settings.width)
  const box = { width, height: even(width * canvas.height / canvas.width) }
  const size = canvas.fit === "fit" ? fitted(frame, box) : box
  const margin = Math.floor(settings.margin / 2) * 2
  const x = settings.corner.endsWith("left") ? margin : canvas.width - size.width - margin
  const y = settings.corner.startsWith("top") ? margin : canvas.height - size.height - margin
  const radius = Math.max(0, Math.min(settings.radius, Math.min(size.width, size.height) / 2 - 1))
  return { clip: "foreground", x, y, ...size, radius, border: settings.border }
}

/** Draws a frame so that it fills a rectangle, cropped at its middle. */
export function drawFilling(context, video, { x, y, width, height }, radius = 0) {
  const scale = Math.max(width / video.videoWidth, height / video.videoHeight)
  const [w, z] = [width / scale, height / scale]
  context.save()
  context.beginPath()
  context.roundRect(x, y, width, height, radius)
  context.clip()
  context.drawImage(video, (video.videoWidth - w) / 2, (video.videoHeight - z) / 2, w, z, x, y, width, height)
  context.restore()
}

/** Draws a tile with its border, whose inner corners are concentric with the outer ones. */
function drawTile(context, video, tile) {
  const line = Math.floor((tile.border?.width ?? 0) / 2) * 2
  if (!line) return drawFilling(context, video, tile, tile.radius)
  context.fillStyle = tile.border.color
  context.beginPath()
  context.roundRect(tile.x, tile.y, tile.width, tile.height, tile.radius)
  context.fill()
  const inner = { x: tile.x + line, y: tile.y + line, width: tile.width - 2 * line, height: tile.height - 2 * line }
  drawFilling(context, video, inner, Math.max(0, tile.radius - line))
}

/** Why the service would refuse a layout; null if it would not. */
function refusal(canvas, list) {
  const beyond = list.some(tile => tile.x < 0 || tile.y < 0 || tile.x + tile.width > canvas.width || tile.y + tile.height > canvas.height)
  if (beyond) return "The inset extends beyond the canvas: the service would refuse this definition."
  const tight = list.some(tile => tile.border?.width > 1 && 2 * tile.border.width + 16 > Math.min(tile.width, tile.height))
  return tight ? "The border leaves no room for the inset: the service would refuse this definition." : null
}

/** Controls for the layout, with what they make of the clips beside the composition as it is. */
export class InsetTool {
  #timer = null

  constructor(record, definition, signal) {
    Object.assign(this, { record, definition, signal })
    this.canvas = { ...standard.canvas, ...definition?.canvas }
    this.composed = structuredClone(definition?.outputs?.composed ?? standard.composed)
    this.composed.inset ??= { ...standard.composed.inset }
    this.foreground = record.post.foreground
    this.seconds = 1
  }

  async open() {
    const { media, post } = this.record
    this.grid = await this.record.grid()
    const label = name => ({ class: "unseen", "aria-hidden": "true", data: { name } })
    const [front, back] = await Promise.all(["front", "back"].map(name => media.video(post.assets[`clip.${name}`], label(name))))
    this.videos = { front, back }
    this.reference = post.assets.composed ? await media.video(post.assets.composed, { "aria-label": "The composition as it is" }) : null
    this.signal.addEventListener("abort", () => {
      this.pause()
      clearTimeout(this.#timer)
      URL.revokeObjectURL(this.url)
    })
    const element = this.element()
    this.redraw()
    await this.go(this.seconds)
    return element
  }

  element() {
    this.drawing = h("canvas", { width: this.canvas.width, height: this.canvas.height, role: "img", "aria-label": "What this definition would make" })
    this.said = h("div", { role: "status" })
    this.changes = h("div")
    this.button = h("button", { onclick: () => this.toggle() }, icon("play"), "Play")
    const end = Math.max(0, (this.record.post.assets["clip.back"].duration ?? 5) - 0.05)
    const slider = h("input", { type: "range", min: 0, max: end, step: 0.01, value: this.seconds, "aria-label": "Time in seconds",
      oninput: event => { this.pause(); this.go(Number(event.target.value)) } })
    return section("Try another layout",
      h("p", { class: "quiet" }, "Every change is drawn at once, from both clips as they play, with the geometry of the service. Nothing is sent."),
      h("div", { class: "inset-tool" },
        h("figure", {}, h("div", { class: "media" }, this.drawing), h("figcaption", {}, "What this definition would make")),
        this.reference && h("figure", {}, h("div", { class: "media" }, this.reference), h("figcaption", {}, "The composition as it is")),
        h("div", { class: "stack" }, this.controls(), h("div", { class: "row" }, this.button, slider))),
      Object.values(this.videos), this.said, this.changes)
  }

  controls() {
    const { inset } = this.composed
    const change = body => event => { body(event.target); this.redraw() }
    const range = (label, name, max, step = 2) => {
      const shown = h("output", { class: "number" }, String(inset[name]))
      const control = field({ label, type: "range", min: name === "width" ? 0.1 : 0, max, step, value: inset[name], oninput: change(target => {
        inset[name] = Number(target.value)
        show(shown, String(inset[name]))
      }) })
      control.querySelector("label").append(" ", shown)
      return control
    }
    const choice = (label, value, options, body) => field({ label, options, value, onchange: change(target => body(target.value)) })
    const border = target => {
      const width = Number(target.value)
      if (width) inset.border = { width, color: inset.border?.color ?? "#FFFFFF" }
      else delete inset.border
    }
    return h("form", { class: "form-row", onsubmit: event => event.preventDefault() },
      choice("Layout", this.composed.layout, ["inset", "side-by-side", "stacked"], value => { this.composed.layout = value }),
      choice("In the foreground", this.foreground, ["front", "back"], value => { this.foreground = value }),
      choice("Shape", this.canvas.fit, [["crop", "cropped to fill"], ["fit", "the whole frame"]], value => { this.canvas.fit = value }),
      this.ofInset = h("fieldset", { class: "of-inset", "aria-label": "The inset" }, choice("Corner", inset.corner, ["top-left", "top-right", "bottom-left", "bottom-right"], value => { inset.corner = value }),
      range("Width", "width", 0.8, 0.01), range("Margin", "margin", 240), range("Radius", "radius", 240, 1),
      field({ label: "Border", type: "range", min: 0, max: 40, step: 2, value: inset.border?.width ?? 0, oninput: change(border) }),
      field({ label: "Colour of the border", type: "color", value: (inset.border?.color ?? "#FFFFFF").toLowerCase(), oninput: change(target => {
        if (inset.border) inset.border.color = target.value.toUpperCase()
      }) })))
  }

  /** The time of a clip at a time of the composition. */
  timeOf(name, seconds) { return seconds + ((this.grid.shifts[name] ?? 0) + 0.5) / this.grid.rate }

  async go(seconds) {
    this.seconds = seconds
    await Promise.all([...Object.entries(this.videos).map(([name, video]) => seek(video, this.timeOf(name, seconds))),
      this.reference && seek(this.reference, seconds + 0.5 / this.grid.rate)])
    this.paint()
  }

  /** Draws the layout and what follows from it. */
  redraw() {
    // Only the layout `inset` has these.
    this.ofInset.disabled = this.composed.layout !== "inset"
    this.paint()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.draw(), 150)
  }

  paint() {
    const { front, back } = this.videos
    const sizes = Object.fromEntries([["foreground", this.foreground], ["background", this.foreground === "front" ? "back" : "front"]]
      .map(([clip, name]) => [clip, this.videos[name]]))
    if (!this.drawing || !front.videoWidth || !back.videoWidth) return
    const context = this.drawing.getContext("2d")
    context.fillStyle = this.canvas.color ?? "#000000"
    context.fillRect(0, 0, this.canvas.width, this.canvas.height)
    const size = video => ({ width: video.videoWidth, height: video.videoHeight })
    const list = tiles(this.canvas, this.composed, { foreground: size(sizes.foreground), background: size(sizes.background) })
    for (const tile of list) drawTile(context, sizes[tile.clip], tile)
    const problem = refusal(this.canvas, list)
    if (problem !== this.problem) show(this.said, problem && h("p", { class: "bad" }, problem))
    this.problem = problem
  }

  /** The definition with the changes, in the next version. */
  changed() {
    const next = structuredClone(this.definition)
    if (this.canvas.fit !== (next.canvas?.fit ?? "crop")) next.canvas = { ...next.canvas, fit: this.canvas.fit }
    for (const role of ["composed", "composed.swapped"]) {
      if (next.outputs[role]) Object.assign(next.outputs[role], { layout: this.composed.layout, inset: this.composed.inset })
    }
    next.version += 1
    return next
  }

  /** The address of the changed definition as a file; null without the definition. */
  file() {
    URL.revokeObjectURL(this.url)
    const text = this.definition && `${JSON.stringify(this.changed(), null, 2)}\n`
    this.url = text && URL.createObjectURL(new Blob([text], { type: "application/json" }))
    return this.url
  }

  draw() {
    const { id, foreground } = this.record.post
    const option = this.foreground === "front" ? "" : " --foreground back"
    // A change may be younger than the link.
    const renew = event => { event.currentTarget.href = this.file() }
    show(this.changes, h("h3", {}, "Make it so"),
      this.file() ? h("p", {}, h("a", { class: "button", href: this.url, download: "mine.json", onclick: renew }, "Download mine.json"))
        : h("p", { class: "quiet" }, "With the scope ‘admin’ the whole definition can be downloaded here; ",
          "‘take5 definition show take5-post’ prints it too."),
      h("div", { class: "stack" }, command("take5 definition check mine.json"),
        command(`take5 compose front.mp4 back.mp4 --definition mine.json${option} -o moment.mp4`),
        command(`take5 reprocess ${id} --definition mine.json`), storeNote()),
      this.foreground !== foreground && h("p", { class: "quiet" }, "Which camera is in the foreground belongs to the post, not to the definition."))
  }

  async toggle() {
    if (this.isPlaying) {
      this.pause()
      return this.go(this.seconds)
    }
    this.isPlaying = true
    show(this.button, icon("pause"), "Pause")
    const all = [...Object.values(this.videos), this.reference].filter(Boolean)
    await Promise.all(all.map(video => video.play().catch(() => {})))
    const next = () => {
      if (!this.isPlaying) return
      this.seconds = Math.max(0, this.videos.back.currentTime - this.timeOf("back", 0))
      this.paint()
      if (all.some(video => video.ended)) return this.pause()
      requestAnimationFrame(next)
    }
    next()
  }

  pause() {
    this.isPlaying = false
    const all = [...Object.values(this.videos), this.reference].filter(Boolean)
    all.forEach(video => video.pause())
    if (this.button) show(this.button, icon("play"), "Play")
  }
}
