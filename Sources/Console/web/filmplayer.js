// The player of /film: shows a moment as far as it has come.

import { pictureOfThumbhash } from "/client.js"
import { $, cameras, prefersStillness, write } from "./filmpage.js"

/** The rendition of a composition that the link carries. */
function renditionOf(assets) {
  const { composed } = assets
  const link = navigator.connection
  const isSlow = link?.saveData || link?.downlink < composed.bytes * 8 / 1e6 / composed.duration
  return isSlow && assets["composed.small"] || composed
}

/** Plays the composition; swapped, and before there is one, both clips in step, the foreground as the inset. */
export class Player {
  #stage = $("stage")
  #composed = $("composed")
  #clips = Object.fromEntries(cameras.map(camera => [camera, $("stage").querySelector(`.clip[data-camera="${camera}"]`)]))
  #post = null
  #composition = null
  #mode = "still"
  #isSwapped = false
  #isSilent = true
  #isPaused = prefersStillness()

  constructor() {
    const { front, back } = this.#clips
    back.addEventListener("timeupdate", () => this.#keepStep())
    for (const clip of [front, back]) clip.addEventListener("ended", () => { this.#seek(0); this.#play() })
    $("still").addEventListener("load", () => $("still").classList.add("loaded"))
    $("swap").addEventListener("click", () => { this.#isSwapped = !this.#isSwapped; this.#draw() })
    $("play").addEventListener("click", () => { this.#isPaused = !this.#isPaused; this.#draw() })
    $("sound").addEventListener("click", () => { this.#isSilent = !this.#isSilent; this.#draw() })
  }

  get #videos() { return [this.#composed, ...Object.values(this.#clips)] }
  get #active() { return { composed: [this.#composed], clips: Object.values(this.#clips), still: [] }[this.#mode] }

  /** The time in each clip at which both show the same: a sound comes `offset_seconds` later in the front clip than in the back clip. */
  get #start() {
    const offset = this.#post?.offset_seconds ?? 0
    return { front: Math.max(0, offset), back: Math.max(0, -offset) }
  }

  get #time() {
    if (this.#mode === "composed") return this.#composed.currentTime
    return this.#mode === "clips" ? Math.max(0, this.#clips.back.currentTime - this.#start.back) : 0
  }

  note(text, isBusy = false) {
    write($("chip"), text)
    $("chip").classList.toggle("busy", isBusy)
  }

  clear() {
    [this.#post, this.#mode, this.#isSwapped] = [null, "still", false]
    for (const video of this.#videos.filter(each => each.hasAttribute("src"))) {
      video.removeAttribute("src")
      video.load()
    }
    $("still").classList.remove("loaded")
    $("still").removeAttribute("src")
    Object.assign($("colours"), { width: 1, height: 1 })
    $("swap").hidden = $("controls").hidden = true
    this.#stage.dataset.mode = "still"
  }

  show(post) {
    const time = this.#time
    this.#post = post
    this.#composition = post.assets.composed && renditionOf(post.assets)
    const still = post.assets.image ?? post.assets.poster
    if (still && !$("still").hasAttribute("src")) {
      paint($("colours"), still.thumbhash)
      Object.assign($("still"), { src: still.url, alt: post.caption ? `First frame of “${post.caption}”` : "First frame of the moment" })
    }
    this.#draw(time)
  }

  #draw(time = this.#time) {
    const { assets, foreground } = this.#post
    const hasClips = cameras.every(camera => assets[`clip.${camera}`])
    const whole = this.#isSwapped ? assets["composed.swapped"] : this.#composition
    const inset = (foreground === "back") === this.#isSwapped ? "front" : "back"
    const mode = whole ? "composed" : hasClips ? "clips" : "still"
    let isOther = mode !== this.#mode
    this.#mode = mode
    if (mode === "composed" && this.#composed.getAttribute("src") !== whole.url) {
      this.#composed.src = whole.url
      isOther = true
    }
    // The outputs have the clips of the first look: they need not be loaded again.
    for (const camera of mode === "clips" ? cameras : []) {
      if (!this.#clips[camera].hasAttribute("src")) this.#clips[camera].src = assets[`clip.${camera}`].url
    }
    if (isOther) this.#seek(time)
    Object.assign(this.#stage.dataset, { mode, inset })
    for (const video of this.#videos) video.muted = this.#isSilent || mode === "clips" && video !== this.#clips[inset]
    this.#play()

    $("swap").hidden = !assets["composed.swapped"] && !hasClips
    $("controls").hidden = mode === "still"
    $("play").dataset.state = this.#isPaused ? "paused" : "playing"
    $("play").setAttribute("aria-label", this.#isPaused ? "Play" : "Pause")
    $("sound").setAttribute("aria-pressed", `${!this.#isSilent}`)
  }

  #play() {
    for (const video of this.#videos) {
      if (this.#isPaused || !this.#active.includes(video)) video.pause()
      else video.play().catch(error => this.#isRefused(error))
    }
  }

  /** A browser may refuse to play with sound, or in a power-saving mode at all, until the person asks for it. */
  #isRefused(error) {
    if (error.name !== "NotAllowedError" || this.#isPaused || !this.#post) return
    if (this.#isSilent) this.#isPaused = true
    this.#isSilent = true
    this.#draw()
  }

  #seek(time) {
    if (this.#mode === "composed") this.#composed.currentTime = time
    if (this.#mode === "clips") for (const camera of cameras) this.#clips[camera].currentTime = time + this.#start[camera]
  }

  /** The front clip follows the back one: a little faster or slower, or by a jump. */
  #keepStep() {
    if (this.#mode !== "clips" || this.#isPaused) return
    const { front, back } = this.#clips
    const drift = front.currentTime - this.#start.front - (back.currentTime - this.#start.back)
    if (Math.abs(drift) > 0.3 && !front.seeking) front.currentTime = Math.max(0, front.currentTime - drift)
    front.playbackRate = Math.abs(drift) > 0.03 ? 1 - Math.max(-0.1, Math.min(0.1, drift)) : 1
  }
}

/** Draws the colours of a ThumbHash, which the page shows until the image has loaded. */
function paint(canvas, thumbhash) {
  if (!thumbhash) return
  const { width, height, rgba } = pictureOfThumbhash(thumbhash)
  Object.assign(canvas, { width, height })
  canvas.getContext("2d")?.putImageData(new ImageData(rgba, width, height), 0, 0)
}
