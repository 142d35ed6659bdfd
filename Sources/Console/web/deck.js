// Plays one video, or two in step.

import { clamped } from "./ui.js"

/** The sound of all players: who turns it on has it on in the next player too. */
export const sound = {
  isSilent: true,
  /** The functions that each change calls. */
  listeners: new Set(),

  turn(isSilent) {
    this.isSilent = isSilent
    this.listeners.forEach(listen => listen())
  },
}

/** Plays one video, or two in step: the lead gives the time and the sound, and the other one follows it. `tracks`: `{name, video, start,
 *  length}`, where `start` is the position in the video at which the deck is at 0. */
export class Deck {
  isPlaying = false
  isWaiting = false
  #wanted = null
  #turn = null
  #jumped = 0

  constructor(tracks, { signal, onchange, ontime, onfail }) {
    Object.assign(this, { tracks, lead: tracks[0], signal, onchange, ontime })
    for (const { video, start } of tracks) {
      const on = (name, body) => video.addEventListener(name, body, { signal })
      if (start) video.currentTime = start
      on("waiting", () => setTimeout(() => this.#hold(), 150))
      on("stalled", () => setTimeout(() => this.#hold(), 150))
      on("canplay", () => this.#resume())
      on("playing", () => this.#resume())
      on("seeked", () => this.#seekOn())
      on("loadedmetadata", () => this.ontime())
      on("ended", () => this.isPlaying && this.#restart())
      on("pause", () => this.#stopped(video))
      on("error", () => { this.pause(); onfail() })
    }
  }

  get duration() {
    const ends = this.tracks.map(({ video, start, length }) => (length ?? video.duration) - start)
    return Math.max(0, Math.min(...ends.map(each => Number.isFinite(each) ? each : 0)))
  }

  get time() { return this.#wanted ?? clamped(this.lead.video.currentTime - this.lead.start, 0, this.duration || Infinity) }

  play() {
    this.isPlaying = true
    this.#start()
    this.#turn ??= requestAnimationFrame(this.#run)
    this.onchange()
  }

  /** Stops both at the same frame. */
  pause() {
    const time = this.time
    const wasPlaying = this.isPlaying
    this.isPlaying = this.isWaiting = false
    for (const track of this.tracks) {
      track.video.pause()
      track.video.playbackRate = 1
      if (wasPlaying && track !== this.lead && !track.video.seeking) track.video.currentTime = track.start + time
    }
    this.onchange()
  }

  /** Goes to a time; of many in a row, it leaves out the ones that the videos cannot keep up with. */
  seek(time) {
    this.#wanted = clamped(time, 0, this.duration || time)
    if (!this.tracks.some(each => each.video.seeking)) this.#seekOn()
    this.ontime()
  }

  /** Makes a track the one that gives the sound and the time. */
  follow(name) {
    this.lead = this.tracks.find(each => each.name === name) ?? this.tracks[0]
    this.lead.video.playbackRate = 1
    this.listen()
  }

  listen() { this.tracks.forEach(each => { each.video.muted = sound.isSilent || each !== this.lead }) }

  #start() {
    for (const { video } of this.tracks) {
      video.play().catch(error => {
        if (error.name !== "NotAllowedError" || !this.isPlaying) return
        if (video.muted) return this.pause()
        // Browsers play no sound before a person has acted on the page.
        sound.turn(true)
        video.play().catch(() => this.pause())
      })
    }
  }

  #run = () => {
    this.#turn = null
    if (!this.isPlaying || this.signal?.aborted) return
    this.#keepInStep()
    const isSeeking = this.#wanted !== null || this.tracks.some(each => each.video.seeking)
    if (!isSeeking && this.duration && this.time >= this.duration - 0.03) this.#restart()
    this.ontime()
    this.#turn = requestAnimationFrame(this.#run)
  }

  #restart() {
    this.#place(0)
    this.#start()
  }

  #place(time) {
    for (const { video, start } of this.tracks) {
      video.playbackRate = 1
      video.currentTime = start + time
    }
  }

  #seekOn() {
    if (this.#wanted === null || this.tracks.some(each => each.video.seeking)) return
    this.#place(this.#wanted)
    this.#wanted = null
  }

  /** Brings the follower, which is silent, back by a slightly other rate; only far off it jumps. Two bounds keep the rate from
   *  flickering: the correction begins at 45 ms, and ends at 12 ms. */
  #keepInStep() {
    const follower = this.tracks.find(each => each !== this.lead)
    if (!follower || this.isWaiting || this.tracks.some(each => each.video.seeking || each.video.readyState < 3)) return
    const { video, start } = follower
    const time = this.lead.video.currentTime - this.lead.start
    const drift = video.currentTime - start - time
    if (Math.abs(drift) > 0.4) {
      if (performance.now() - this.#jumped < 1000) return
      this.#jumped = performance.now()
      video.playbackRate = 1
      video.currentTime = start + time + 0.04
      return
    }
    const rate = Math.abs(drift) > (video.playbackRate === 1 ? 0.045 : 0.012) ? 1 - clamped(drift * 2, -0.25, 0.25) : 1
    if (rate === 1 ? video.playbackRate !== 1 : Math.abs(rate - video.playbackRate) > 0.02) video.playbackRate = rate
  }

  #isReady = ({ video }) => video.readyState >= 3 || video.ended

  /** While one lacks data, the other one waits for it. */
  #hold() {
    if (!this.isPlaying || this.isWaiting || this.tracks.every(this.#isReady)) return
    this.isWaiting = true
    this.tracks.filter(this.#isReady).forEach(each => each.video.pause())
    this.onchange()
  }

  #resume() {
    if (!this.isWaiting || !this.tracks.every(this.#isReady)) return
    this.isWaiting = false
    if (this.isPlaying) this.#start()
    this.onchange()
  }

  /** The browser, a headset or the removal from the page has paused one: the other one stops too. */
  #stopped(video) {
    if (this.isPlaying && !this.isWaiting && video.paused && !video.ended && !video.seeking) this.pause()
  }
}
