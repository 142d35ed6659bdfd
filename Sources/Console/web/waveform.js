// The sounds of both clips one above the other, the second shifted by the offset at which they match; the offset can be tried by ear.

import { facts, h, icon, percent, section, show, svg } from "./ui.js"

const width = 1000, lane = 90
const rate = 200

export default async function (panel, { record, signal }) {
  const [grid, verdict] = await Promise.all([record.grid(), record.verdict().catch(() => null)])
  const offset = record.post.offset_seconds ?? verdict?.moment?.offset_seconds ?? null
  const sounds = await Promise.all(record.videos.map(video => decode(video, record.media)))
  if (signal.aborted) return
  const audible = sounds.filter(sound => sound.buffer)
  const silent = sounds.filter(sound => !sound.buffer).map(sound => sound.name)
  show(panel, h("div", { class: "stack" },
    audible.length ? new Sounds(audible, offset, grid, signal).element
      : h("p", { class: "card empty" }, "None of the files has a sound that this browser can decode."),
    audible.length > 0 && silent.length > 0 && h("p", { class: "quiet" }, `Without a sound that this browser can decode: ${silent.join(", ")}.`),
    verdict && explanation(verdict, offset)))
}

async function decode({ name, asset }, media) {
  try {
    const bytes = await media.whole(asset)
    return { name, buffer: await new OfflineAudioContext(1, 1, 48_000).decodeAudioData(bytes.slice().buffer) }
  } catch (error) {
    if (error.name === "AbortError" || error.status) throw error
    return { name, buffer: null }
  }
}

function explanation(verdict, offset) {
  const decisions = verdict.decisions.filter(each => each.subject === "alignment" || each.subject === "audio" || each.subject === "audio_stream")
  const apart = verdict.moment?.recorded_difference
  const found = offset === null ? "none: the sounds match at no single offset" : `${milliseconds(offset)}: the front is that much behind the back`
  return section("How they were aligned", facts({
    Offset: verdict.moment ? found : null,
    Confidence: verdict.moment ? `${percent(verdict.moment.confidence)}; an offset counts from 30 % on` : null,
    "Recording times": Number.isFinite(apart) ? `${apart.toFixed(1)} s apart by the clocks of the files` : null,
  }), h("ul", { class: "plain" }, decisions.map(({ input, choice, reason }) =>
    h("li", {}, input && h("b", {}, `${input}: `), choice, h("span", { class: "quiet" }, `; ${reason}`)))))
}

const milliseconds = seconds => `${Math.round(seconds * 1000)} ms`

class Sounds {
  constructor(sounds, offset, grid, signal) {
    Object.assign(this, { sounds, signal })
    this.offset = offset ?? 0
    this.shift = this.offset
    this.back = sounds.find(sound => sound.name === "back")
    this.front = sounds.find(sound => sound.name === "front")
    const isPair = this.front && this.back
    this.reach = isPair ? Math.max(0.5, Math.ceil(Math.abs(this.offset) * 10) / 10 + 0.2) : 0
    this.longest = Math.max(...sounds.map(sound => sound.buffer.duration))
    this.span = this.longest + 2 * this.reach
    // The front clip gives the axis; the composition begins where the grid says.
    this.starts = { front: 0, clip: 0, composed: (grid.shifts.front ?? 0) / grid.rate }
    this.marks = new Map()
    this.element = h("section", { class: "card" }, h("h2", {}, "Sounds"), this.drawing(), this.buttons(), isPair && this.sliding(offset))
    signal.addEventListener("abort", () => this.context?.close())
  }

  /** Where a sound begins on the axis, in seconds. */
  start(sound) { return sound.name === "back" && this.front ? this.shift : this.starts[sound.name] ?? 0 }

  x(seconds) { return (seconds + this.reach) / this.span * width }

  drawing() {
    const height = this.sounds.length * lane + 22
    this.head = svg("line", { y1: 0, y2: height - 20, class: "wave-head", visibility: "hidden" })
    const shifted = this.front && this.back ? `, the back shifted by ${milliseconds(this.offset)}` : ""
    const label = `The loudness of ${this.sounds.map(sound => sound.name).join(", ")} over time${shifted}.`
    return svg("svg", { class: "chart wave", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      Array.from({ length: Math.floor(this.longest) + 1 }, (_, second) => [
        svg("line", { x1: this.x(second), x2: this.x(second), y1: 0, y2: height - 20, class: "wave-grid" }),
        svg("text", { x: this.x(second), y: height - 4, "text-anchor": "middle" }, `${second} s`)]),
      this.sounds.map((sound, index) => this.wave(sound, index)), this.head)
  }

  wave(sound, index) {
    const group = svg("g", { class: `wave-${sound.name}` }, svg("path", { d: outline(sound.buffer, sound.buffer.duration / this.span * width) }))
    this.marks.set(sound, { group, index })
    this.place(sound)
    return [group, svg("text", { x: 4, y: index * lane + 14, class: "wave-name" }, sound.name)]
  }

  place(sound) {
    const { group, index } = this.marks.get(sound)
    group.setAttribute("transform", `translate(${this.x(this.start(sound)).toFixed(2)} ${index * lane + lane / 2})`)
  }

  buttons() {
    const button = (label, names) => h("button", { onclick: () => this.play(names) }, icon("play"), label)
    return h("div", { class: "row" }, this.front && this.back && button("Both, the front left and the back right", ["front", "back"]),
      this.sounds.map(sound => button(sound.name, [sound.name])), h("button", { onclick: () => this.stop() }, icon("pause"), "Stop"))
  }

  sliding(known) {
    const said = h("b", { class: "number" })
    const [first, second] = [detail(this.front.buffer), detail(this.back.buffer)]
    const values = agreement(first, second, this.reach)
    const mark = svg("line", { y1: 0, y2: 100, class: "wave-head" })
    const place = x => (x + this.reach) / (2 * this.reach) * width
    const slider = h("input", { type: "range", min: -this.reach, max: this.reach, step: 0.001, "aria-label": "Offset of the back clip in seconds",
      oninput: () => move(Number(slider.value)) })
    const move = shift => {
      this.shift = shift
      slider.value = shift
      this.place(this.back)
      const x = place(shift)
      mark.setAttribute("x1", x)
      mark.setAttribute("x2", x)
      const value = values[Math.round((shift + this.reach) * rate)] ?? 0
      show(said, `${milliseconds(shift)}, agreement ${value.toFixed(2)}`)
      if (this.playing) this.play(this.playing)
    }
    const best = values.indexOf(Math.max(...values)) / rate - this.reach
    const top = Math.max(0.2, ...values)
    const point = (value, index) => `${(index / (values.length - 1) * width).toFixed(1)} ${(95 - Math.max(0, value) / top * 90).toFixed(1)}`
    const box = { viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", role: "img" }
    const element = h("div", {}, h("h3", {}, "Agreement at each offset"),
      svg("svg", { class: "chart agreement", ...box, "aria-label": `The sounds agree most at ${milliseconds(best)}.` },
        svg("path", { d: `M${values.map(point).join("L")}` }), mark),
      slider, h("div", { class: "row" }, said,
        h("button", { onclick: () => move(this.offset) }, known === null ? "No offset" : "The service’s offset"),
        h("button", { onclick: () => move(best) }, "The best here")),
      h("p", { class: "quiet" }, "This curve is computed in the browser, by a simpler measure than the service uses. ",
        "One clear peak is what makes an offset certain."))
    move(this.offset)
    return element
  }

  play(names) {
    this.stop()
    this.playing = names
    const context = this.context ??= new AudioContext()
    context.resume()
    const chosen = this.sounds.filter(sound => names.includes(sound.name))
    const first = Math.min(...chosen.map(sound => this.start(sound)))
    const begin = context.currentTime + 0.08
    this.sources = chosen.map(sound => {
      const source = new AudioBufferSourceNode(context, { buffer: sound.buffer })
      const side = new StereoPannerNode(context, { pan: names.length < 2 ? 0 : sound.name === "front" ? -1 : 1 })
      source.connect(side).connect(context.destination)
      source.start(begin + this.start(sound) - first)
      return source
    })
    const end = Math.max(...chosen.map(sound => this.start(sound) + sound.buffer.duration))
    const token = this.token = {}
    const draw = () => {
      if (this.token !== token || this.signal.aborted) return
      const at = first + Math.max(0, context.currentTime - begin)
      if (at > end) return this.stop()
      this.head.setAttribute("visibility", "visible")
      this.head.setAttribute("x1", this.x(at))
      this.head.setAttribute("x2", this.x(at))
      requestAnimationFrame(draw)
    }
    draw()
  }

  stop() {
    this.sources?.forEach(source => source.stop())
    this.sources = this.playing = this.token = null
    this.head.setAttribute("visibility", "hidden")
  }
}

/** The loudest samples of each step as an area around zero. */
function outline(buffer, length) {
  const samples = buffer.getChannelData(0), steps = Math.max(2, Math.round(length / 1.5))
  const peaks = Array.from({ length: steps }, (_, step) => {
    let peak = 0
    const end = Math.floor((step + 1) / steps * samples.length)
    for (let index = Math.floor(step / steps * samples.length); index < end; index++) peak = Math.max(peak, Math.abs(samples[index]))
    return peak
  })
  const loudest = Math.max(0.05, ...peaks)
  const points = peaks.map((peak, step) => [step / (steps - 1) * length, Math.max(0.5, peak / loudest * (lane / 2 - 6))])
  const point = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`
  return `M${points.map(([x, y]) => point([x, -y])).join("L")}L${points.reverse().map(point).join("L")}Z`
}

/** How the loudness changes, 200 times a second. */
function detail(buffer) {
  const samples = buffer.getChannelData(0), step = buffer.sampleRate / rate
  const loudness = Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    let sum = 1e-6
    for (let at = Math.floor(index * step); at < Math.floor((index + 1) * step) - 1; at++) sum += (samples[at + 1] - samples[at]) ** 2
    return Math.log(sum)
  })
  return loudness.slice(1).map((value, index) => value - loudness[index])
}

/** The correlation of two sounds at each offset up to `reach` seconds. */
function agreement(first, second, reach) {
  const lags = Math.round(reach * rate)
  return Array.from({ length: 2 * lags + 1 }, (_, index) => {
    const lag = index - lags
    let [product, left, right] = [0, 0, 0]
    for (let at = Math.max(0, -lag); at < Math.min(second.length, first.length - lag); at++) {
      product += first[at + lag] * second[at]
      left += first[at + lag] ** 2
      right += second[at] ** 2
    }
    return product / Math.sqrt(left * right || 1)
  })
}
