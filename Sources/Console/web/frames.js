// The frames of both clips and of the composition in step: each shows the frame that belongs to the same tick of the composition.

import { tracks } from "./boxes.js"
import { seek } from "./bytes.js"
import { field, h, icon, show } from "./ui.js"

export default async function (panel, { record, signal }) {
  const grid = await record.grid()
  const lanes = await Promise.all(record.videos.map(video => openLane(video, grid, record.media)))
  if (!signal.aborted) new Stepper(lanes, grid, signal).show(panel)
}

/** One of the videos: its element, and the times of its frames in seconds. */
async function openLane({ name, asset }, grid, media) {
  const video = await media.video(asset, { "aria-label": `The current frame of ${name}` })
  const times = frameTimes(await media.whole(asset), asset, grid)
  return { name, video, times, shift: grid.shifts[name] ?? 0, note: h("span", { class: "number" }) }
}

function frameTimes(bytes, asset, grid) {
  try {
    const { times } = tracks(bytes).find(track => track.handler === "vide")
    if (times.length) return times
  } catch {
    // A file with other tables has frames at even times.
  }
  return Array.from({ length: Math.max(1, Math.round((asset.duration ?? 5) * grid.rate)) }, (_, index) => index / grid.rate)
}

/** The frame whose time is nearest. */
function nearest(times, seconds) {
  const next = times.findIndex(time => time >= seconds)
  if (next < 0) return times.length - 1
  return next > 0 && seconds - times[next - 1] <= times[next] - seconds ? next - 1 : next
}

/** The frame that is shown at a time. */
const shownAt = (times, seconds) => Math.max(0, times.findLastIndex(time => time <= seconds + 0.0005))

class Stepper {
  tick = 0
  isPlaying = false

  constructor(lanes, grid, signal) {
    Object.assign(this, { lanes, grid, signal })
    const composed = lanes.find(lane => lane.name === "composed")
    this.leader = composed ?? lanes[0]
    this.count = composed ? composed.times.length
      : Math.max(1, Math.min(...lanes.map(lane => Math.floor(lane.times.at(-1) * grid.rate + 1.5) - lane.shift)))
  }

  show(panel) {
    const button = (label, name, step) =>
      h("button", { class: "icon-button", "aria-label": label, title: label, onclick: () => this.step(step) }, name)
    this.play = h("button", { onclick: () => this.toggle() }, icon("play"), "Play")
    const speeds = [["0.1", "a tenth"], ["0.25", "a quarter"], ["1", "as filmed"]]
    this.speed = field({ label: "Speed", options: speeds, value: "0.25", onchange: () => this.pace() })
    this.slider = h("input", { type: "range", min: 0, max: this.count - 1, step: 1, value: 0, "aria-label": "Frame of the composition",
      oninput: () => this.go(Number(this.slider.value)) })
    show(panel, h("div", { class: "card" },
      h("div", { class: "lanes" }, this.lanes.map(({ name, video, note }) =>
        h("figure", {}, h("div", { class: "media" }, video), h("figcaption", {}, h("b", {}, name), note)))),
      this.slider,
      h("div", { class: "row" }, button("Ten frames back", "−10", -10), button("One frame back", icon("back"), -1),
        button("One frame on", icon("next"), 1), button("Ten frames on", "+10", 10), this.play, this.speed),
      h("p", { class: "quiet" }, h("kbd", {}, "←"), " and ", h("kbd", {}, "→"), " step by a frame, with ", h("kbd", {}, "Shift"), " by ten. ",
        this.explanation())))
    this.lanes.forEach(lane => this.follow(lane))
    this.leader.video.addEventListener("ended", () => this.isPlaying && this.toggle(), { signal: this.signal })
    this.signal.addEventListener("abort", () => this.lanes.forEach(lane => lane.video.pause()))
    document.addEventListener("keydown", event => this.press(event), { signal: this.signal })
    this.go(0)
  }

  explanation() {
    const late = this.lanes.filter(lane => lane.shift)
    if (this.lanes.length < 2) return ""
    if (!late.length) return "All begin together: the sounds match without a shift, or at no offset."
    return `The sounds match from frame ${late[0].shift} of the ${late[0].name} clip on, so the composition begins there.`
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.target.closest?.("[role=tablist], select, textarea, dialog, input:not([type=range])")) return
    event.preventDefault()
    this.step(event.shiftKey ? step * 10 : step)
  }

  step(frames) {
    if (this.isPlaying) this.toggle()
    this.go(this.tick + frames)
  }

  /** Shows a tick of the composition in all videos. */
  go(tick) {
    this.mark(tick)
    return Promise.all(this.lanes.map(lane => {
      const index = nearest(lane.times, (this.tick + lane.shift) / this.grid.rate)
      const end = lane.times[index + 1] ?? lane.times[index] + 1 / this.grid.rate
      this.note(lane, index)
      // The middle of a frame shows it, whatever the rounding of the times.
      return seek(lane.video, (lane.times[index] + end) / 2)
    }))
  }

  mark(tick) {
    this.tick = Math.max(0, Math.min(this.count - 1, tick))
    this.slider.value = this.tick
    this.slider.setAttribute("aria-valuetext", `frame ${this.tick}, ${(this.tick / this.grid.rate).toFixed(2)} seconds`)
  }

  note(lane, index) { show(lane.note, ` frame ${index} of 0–${lane.times.length - 1}, ${lane.times[index].toFixed(3)} s`) }

  /** Notes each frame that a video presents while it plays. */
  follow(lane) {
    const seen = seconds => {
      if (!this.isPlaying) return
      this.note(lane, shownAt(lane.times, seconds))
      if (lane === this.leader) this.mark(Math.round(lane.times[shownAt(lane.times, seconds)] * this.grid.rate) - lane.shift)
    }
    if (!lane.video.requestVideoFrameCallback) {
      return lane.video.addEventListener("timeupdate", () => seen(lane.video.currentTime), { signal: this.signal })
    }
    const next = (_, frame) => {
      if (this.signal.aborted) return
      seen(frame.mediaTime)
      lane.video.requestVideoFrameCallback(next)
    }
    lane.video.requestVideoFrameCallback(next)
  }

  async toggle() {
    this.isPlaying = !this.isPlaying
    show(this.play, icon(this.isPlaying ? "pause" : "play"), this.isPlaying ? "Pause" : "Play")
    if (!this.isPlaying) {
      this.lanes.forEach(lane => lane.video.pause())
      return this.go(this.tick)
    }
    if (this.tick >= this.count - 1) await this.go(0)
    this.pace()
    this.lanes.forEach(lane => lane.video.play().catch(() => {}))
  }

  pace() {
    const rate = Number(this.speed.querySelector("select").value)
    this.lanes.forEach(lane => { lane.video.playbackRate = rate })
  }
}
