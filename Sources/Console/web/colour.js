// The colours before and after: how each source describes them, what was converted and why, and the same frame of clip and composition measured.

import { seek } from "./bytes.js"
import { drawFilling, standard, tiles } from "./inset.js"
import { field, h, section, show, svg, table } from "./ui.js"

const words = {
  unknown: "not described", tv: "limited", pc: "full", sdr: "SDR", hlg: "HDR (HLG)", pq: "HDR (PQ)", bt709: "BT.709", smpte170m: "BT.601",
  bt470bg: "BT.601", bt2020: "BT.2020", bt2020nc: "BT.2020", smpte432: "Display P3", "arib-std-b67": "HLG", smpte2084: "PQ", "iec61966-2-1": "sRGB",
}
const word = name => words[name] ?? name
const after = { primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv", dynamic_range: "sdr", pixel_format: "yuv420p" }

export default async function (panel, { record, signal }) {
  const verdict = await record.verdict().catch(() => null)
  if (signal.aborted) return
  const place = h("div", { class: "card empty" }, "Measuring a frame…")
  const canMeasure = record.videos.some(video => video.name === "composed") && record.videos.length === 3
  show(panel, h("div", { class: "stack" }, described(verdict), canMeasure && place, record.post.photos.length > 0 && dominant(record.post)))
  if (!canMeasure) return
  const element = await new Measure(record, await record.definition().catch(() => null), signal).open()
  if (!signal.aborted) place.replaceWith(element)
}

// MARK: As described

function described(verdict) {
  const clips = Object.entries(verdict?.inputs ?? {}).filter(([, report]) => report.facts)
  const decisions = (verdict?.decisions ?? []).filter(each => each.subject === "color")
  if (!clips.length && !verdict?.photos?.length) {
    return section("Colours", h("p", { class: "empty" },
      "The colours that the sources describe appear here once their job has ended, for viewers who may read it."))
  }
  return section("Colours as described", clips.length ? clipTable(clips) : photoTable(verdict.photos),
    decisions.length ? h("ul", { class: "plain" }, decisions.map(each => h("li", {}, each.input && h("b", {}, `${each.input}: `), each.choice,
      h("span", { class: "quiet" }, `; ${each.reason}`)))) : h("p", {}, "Nothing was converted: the sources have the colours of the outputs."),
    h("p", { class: "quiet" }, "The transfer function decides what is HDR. The white of HDR, 203 cd/m², becomes 0.88 of the light of SDR’s white; ",
      "colours outside of BT.709 are clipped, so that hues stay."))
}

function clipTable(clips) {
  const rows = [
    ["Primaries", video => video.color.primaries, "primaries"], ["Transfer", video => video.color.transfer, "transfer"],
    ["Matrix", video => video.color.matrix, "matrix"], ["Range", video => video.color.range, "range"],
    ["Dynamic range", video => video.dynamic_range, "dynamic_range"], ["Samples", video => video.pixel_format, "pixel_format"],
  ]
  const column = ([name, report]) => ({ title: `${name}, before`, cell: ([, read, key]) => {
    const value = read(report.facts.video)
    return h("span", { class: value === after[key] || value === "unknown" ? null : "changed" }, word(value))
  } })
  return table({ caption: "Colours of the sources and of the composition", rows, columns: [{ title: "Property", cell: ([name]) => name },
    ...clips.map(column), { title: "Composed, after", cell: ([, , key]) => word(after[key]) }] })
}

function photoTable(photos) {
  return table({ caption: "Colours of the photos", rows: photos.map((photo, index) => ({ photo, index })), columns: [
    { title: "Photo", cell: ({ index }) => String(index + 1) },
    { title: "Profile", cell: ({ photo }) => photo.profile ?? "sRGB, as none is named" },
    { title: "Dynamic range", cell: ({ photo }) => word(photo.dynamic_range) },
    { title: "Samples", cell: ({ photo }) => `${photo.model}, ${photo.bits} bits${photo.has_alpha ? ", transparent in parts" : ""}` },
    { title: "After", cell: () => "sRGB, 8 bits" },
  ] })
}

const dominant = post => section("Dominant colours", h("div", { class: "row" }, post.photos.map((photo, index) => {
  const color = Object.values(photo).find(asset => asset.color)?.color
  return color && h("span", { class: "row" }, swatch(color), `photo ${index + 1} `, h("code", {}, color))
})))

const swatch = color => h("span", { class: "swatch", style: { background: color }, "aria-hidden": "true" })

// MARK: As measured

/** Draws the same frame of each clip and of the composition, and compares the colours of what both show. */
class Measure {
  constructor(record, definition, signal) {
    this.record = record
    this.signal = signal
    this.canvas = { ...standard.canvas, ...definition?.canvas }
    this.composed = definition?.outputs?.composed ?? standard.composed
  }

  async open() {
    this.grid = await this.record.grid()
    this.videos = Object.fromEntries(await Promise.all(this.record.videos.map(async ({ name, asset }) =>
      [name, await this.record.media.video(asset, { class: "unseen", "aria-hidden": "true" })])))
    this.result = h("div", { class: "measures" })
    const end = Math.max(0, (this.record.videos.find(video => video.name === "composed").asset.duration ?? 5) - 0.1)
    const slider = field({ label: "Time of the frame, in seconds", type: "range", min: 0, max: end, step: 0.1, value: 1,
      oninput: event => this.measure(Number(event.target.value)) })
    await this.measure(1)
    return section("Colours as measured", slider, this.result, Object.values(this.videos), h("p", { class: "quiet" },
      "Before: the playable clip, cropped and scaled as in the composition; a clip whose colours few players show is converted there too. ",
      "After: the same part of the composed video, by the layout of the present definition. ",
      "The histograms are of the luma; small differences come from scaling and encoding."))
  }

  async measure(seconds) {
    const turn = this.turn = {}
    const at = name => seconds + ((this.grid.shifts[name] ?? 0) + 0.5) / this.grid.rate
    await Promise.all(Object.entries(this.videos).map(([name, video]) => seek(video, at(name))))
    if (this.turn !== turn || this.signal.aborted) return
    const { foreground } = this.record.post
    const names = { foreground, background: foreground === "front" ? "back" : "front" }
    const size = name => ({ width: this.videos[name].videoWidth, height: this.videos[name].videoHeight })
    const list = tiles(this.canvas, this.composed, { foreground: size(names.foreground), background: size(names.background) })
    show(this.result, list.map((tile, index) => this.compare(names[tile.clip], tile, list.slice(index + 1))))
  }

  /** Compares what a tile shows with what its clip does, without what lies above it and without its rounded corners. */
  compare(name, tile, above) {
    const scale = 270 / this.canvas.width
    const area = { x: 0, y: 0, width: Math.round(tile.width * scale), height: Math.round(tile.height * scale) }
    const edge = tile.radius ? Math.ceil(tile.radius * 0.3 * scale) + 2 : 1
    const isSeen = (x, y) => x >= edge && y >= edge && x < area.width - edge && y < area.height - edge && !above.some(other => {
      const [left, top] = [(other.x - tile.x) * scale - 2, (other.y - tile.y) * scale - 2]
      return x >= left && y >= top && x < left + other.width * scale + 4 && y < top + other.height * scale + 4
    })
    const before = statistics(area, isSeen, context => drawFilling(context, this.videos[name], area))
    const after = statistics(area, isSeen, context => {
      const { videoWidth, videoHeight } = this.videos.composed
      const [right, down] = [videoWidth / this.canvas.width, videoHeight / this.canvas.height]
      context.drawImage(this.videos.composed, tile.x * right, tile.y * down, tile.width * right, tile.height * down, 0, 0, area.width, area.height)
    })
    const difference = Math.max(...before.mean.map((value, index) => Math.abs(value - after.mean[index])))
    return h("figure", {}, h("figcaption", {}, h("b", {}, name)), histogram(name, before, after),
      h("p", { class: "row" }, swatch(css(before.mean)), "before ", h("code", {}, triple(before.mean))),
      h("p", { class: "row" }, swatch(css(after.mean)), "after ", h("code", {}, triple(after.mean))),
      h("p", { class: difference < 3 ? "good" : null }, `The means differ by ${difference.toFixed(1)} of 255.`))
  }
}

const css = mean => `rgb(${mean.map(Math.round).join(" ")})`
const triple = mean => mean.map(value => value.toFixed(1)).join(", ")

/** The mean colour and the distribution of the luma of a drawing. */
function statistics(area, isSeen, draw) {
  const context = new OffscreenCanvas(area.width, area.height).getContext("2d", { willReadFrequently: true })
  draw(context)
  const { data } = context.getImageData(0, 0, area.width, area.height)
  const sum = [0, 0, 0], bins = Array(64).fill(0)
  let number = 0
  for (let index = 0; index < data.length; index += 4) {
    const pixel = index / 4
    if (!isSeen(pixel % area.width, Math.floor(pixel / area.width))) continue
    for (let part = 0; part < 3; part++) sum[part] += data[index + part]
    bins[Math.min(63, Math.floor((0.2126 * data[index] + 0.7152 * data[index + 1] + 0.0722 * data[index + 2]) / 4))] += 1
    number += 1
  }
  return { mean: sum.map(value => value / Math.max(1, number)), bins: bins.map(value => value / Math.max(1, number)) }
}

function histogram(name, before, after) {
  const top = Math.max(...before.bins, ...after.bins, 0.001)
  const line = bins => `M${bins.map((value, index) => `${(index / 63 * 256).toFixed(1)} ${(98 - value / top * 94).toFixed(1)}`).join("L")}`
  const label = `Luma of ${name}: before and after, from black at the left to white at the right.`
  return svg("svg", { class: "chart histogram", viewBox: "0 0 256 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path", { class: "before", d: line(before.bins) }), svg("path", { class: "after", d: line(after.bins) }))
}
