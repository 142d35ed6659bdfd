// Plays a moment: both clips in step, one of them as the inset, or the composed video. Shows photos as a strip, and any picture with the
// colours of its ThumbHash until it has loaded.

import { pictureOfThumbhash } from "/client.js"
import { clamped, h, icon, prefersStillness, show } from "./ui.js"

// The composition of the built-in definition, for a sign-in that may not read the definitions.
const standard = {
  canvas: { width: 1080, height: 1920, frames_per_second: 30, fit: "crop", color: "#000000" },
  composed: { layout: "inset", inset: { width: 0.3, corner: "top-left", margin: 36, radius: 36 }, seconds: [4.5, 5.034] },
}

const other = { front: "back", back: "front" }
const cameras = { front: "Front camera", back: "Back camera" }

// Sound that a person turns on stays on in the next player.
let isSilent = true
const listeners = new Set()

/** The player of a post with clips, as an element; of other posts the photos or pictures that are there. It begins to play, without
 *  sound, once it is in sight, unless `autoplay` is false or the person prefers less motion. One that is alone in its view has its keys
 *  wherever the person stands in the view, until the signal. */
export function player(post, { app, signal, autoplay = true, isAlone = false } = {}) {
  if (setsOf(post).length) return photos(post)
  const made = new Player(post, { app, signal, autoplay })
  if (isAlone) document.addEventListener("keydown", event => isFree(event) && made.press(event), { signal })
  return made.element
}

/** Whether a key was pressed where nothing takes it: on the view itself, in no control and in no dialog. */
const isFree = ({ target, defaultPrevented }) => !defaultPrevented && target.matches("body, #main, [role=tabpanel]")

/** What a post shows: its player or its photos; null if it has no media yet. */
export function media(post, options) {
  return setsOf(post).length || modesOf(post.assets ?? {}).length ? player(post, options) : null
}

/** Photos as a strip that arrow keys, buttons and a swipe move. */
export function photos(post) {
  const sets = setsOf(post)
  if (!sets.length) return h("p", { class: "empty" }, "The photos are not there yet.")
  const words = post.alternative_text ?? post.caption ?? post.title
  const figures = sets.map((set, index) => {
    const variants = ["photo.large", "photo.medium", "photo.small", "photo.square"].filter(role => set[role]).map(role => set[role])
    const part = sets.length > 1 ? `photo ${index + 1} of ${sets.length}` : `photo by ${post.author}`
    const image = picture(variants[0], { alt: words ? `${words} (${part})` : part[0].toUpperCase() + part.slice(1) })
    const widths = variants.filter(each => each.width && !(each.width === each.height && each.width <= 150))
    if (widths.length > 1) {
      image.srcset = widths.map(each => `${each.url} ${each.width}w`).join(", ")
      image.sizes = "(max-width: 760px) 94vw, 640px"
    }
    return h("figure", { class: "photos-one" }, image)
  })
  const strip = h("div", { class: "photos-strip", tabindex: "0", role: "group", "aria-label": nameOf(post) }, figures)
  if (figures.length === 1) return h("div", { class: "photos" }, strip)

  let current = 0
  const place = h("span", { class: "photos-place", "aria-live": "polite" })
  const back = h("button", { class: "icon-button", "aria-label": "Photo before", onclick: () => go(current - 1) }, icon("back"))
  const next = h("button", { class: "icon-button", "aria-label": "Next photo", onclick: () => go(current + 1) }, icon("next"))
  const draw = () => {
    place.textContent = `${current + 1} of ${figures.length}`
    back.setAttribute("aria-disabled", `${current === 0}`)
    next.setAttribute("aria-disabled", `${current === figures.length - 1}`)
  }
  const go = index => {
    const left = figures[clamped(index, 0, figures.length - 1)].offsetLeft
    strip.scrollTo({ left, behavior: prefersStillness() ? "auto" : "smooth" })
  }
  strip.addEventListener("scroll", () => {
    const index = Math.round(strip.scrollLeft / Math.max(1, strip.clientWidth))
    if (index !== current) { current = index; draw() }
  }, { passive: true })
  strip.addEventListener("keydown", event => {
    const index = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: figures.length - 1 }[event.key]
    if (index === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    go(index)
  })
  draw()
  return h("div", { class: "photos" }, strip, h("div", { class: "photos-bar" }, back, place, next))
}

/** An image of an asset: its place is kept, and its ThumbHash fills it until it has loaded. */
export function picture(asset, { alt = "" } = {}) {
  const image = h("img", { class: "picture", alt, width: asset.width, height: asset.height, loading: "lazy", decoding: "async", src: asset.url })
  const canvas = asset.thumbhash && canvasOf(asset.thumbhash)
  if (asset.color) image.style.setProperty("background-color", asset.color)
  if (!canvas) return image
  image.style.setProperty("background-image", `url(${canvas.toDataURL()})`)
  image.addEventListener("load", () => image.style.removeProperty("background-image"), { once: true })
  return image
}

/** The volume at which a video is as loud as others, -16 LUFS: browsers only attenuate. */
function volumeOf({ loudness_lufs: loudness }) {
  return Number.isFinite(loudness) ? Math.min(1, 10 ** ((-16 - loudness) / 20)) : 1
}

/** The colours of a ThumbHash on a canvas; null if it cannot be read. */
function canvasOf(thumbhash) {
  try {
    const { width, height, rgba } = pictureOfThumbhash(thumbhash)
    const canvas = h("canvas", { class: "thumbhash", width, height, "aria-hidden": "true" })
    canvas.getContext("2d").putImageData(new ImageData(rgba, width, height), 0, 0)
    return canvas
  } catch {
    return null
  }
}

/** The sets of variants of a post's photos. */
function setsOf({ photos = [], assets = {} }) {
  if (photos.length) return photos.filter(set => Object.keys(set).length)
  return Object.keys(assets).some(role => role.startsWith("photo.")) ? [assets] : []
}

/** The post in words: “Moment by ada: a lake at dusk”. */
function nameOf({ kind, author, alternative_text: words, caption, title }) {
  const text = words ?? caption ?? title
  return `${{ take5: "Moment", photo: "Photos", marker: "Marker" }[kind] ?? "Post"} by ${author}${text ? `: ${text}` : ""}`
}

/** What a player can show: videos in the order of preference, otherwise pictures. */
function modesOf(assets) {
  const videos = [assets["clip.front"] && assets["clip.back"] && "both", assets.composed && "composed", assets.clip && "clip"].filter(Boolean)
  if (videos.length) return videos
  if (assets["thumbnail.front"] && assets["thumbnail.back"]) return ["stills"]
  return assets.poster || assets.image || assets.thumbnail ? ["still"] : []
}

// MARK: The composition

const compositions = new WeakMap()

/** The canvas and the layout of moments, once for a session. */
function compositionOf(app) {
  if (!app?.session?.can("admin")) return Promise.resolve(standard)
  if (!compositions.has(app.session)) {
    compositions.set(app.session, app.api.get("/v1/operations/definitions").then(readComposition).catch(() => standard))
  }
  return compositions.get(app.session)
}

function readComposition({ items }) {
  const found = items.find(each => each.name === "take5-post")
  if (!found?.outputs?.composed) return standard
  return { canvas: { ...standard.canvas, ...found.canvas }, composed: { ...standard.composed, ...found.outputs.composed } }
}

/** Where both clips lie, as shares of the canvas. `shape`: the width of the foreground's frames divided by their height. */
function placesOf({ canvas, composed: { layout, inset } }, shape) {
  const whole = { x: 0, y: 0, width: 1, height: 1, radius: 0 }
  if (layout === "side-by-side") return { foreground: { ...whole, width: 0.5 }, background: { ...whole, x: 0.5, width: 0.5 } }
  if (layout === "stacked") return { foreground: { ...whole, height: 0.5 }, background: { ...whole, y: 0.5, height: 0.5 } }
  const box = { width: canvas.width * inset.width, height: canvas.height * inset.width }
  const height = canvas.fit === "fit" ? Math.min(box.height, box.width / shape) : box.height
  const width = canvas.fit === "fit" ? height * shape : box.width
  const x = inset.corner.endsWith("left") ? inset.margin : canvas.width - width - inset.margin
  const y = inset.corner.startsWith("top") ? inset.margin : canvas.height - height - inset.margin
  return {
    background: whole,
    foreground: {
      x: x / canvas.width, y: y / canvas.height, width: width / canvas.width, height: height / canvas.height, radius: inset.radius / canvas.width,
      border: inset.border && { width: inset.border.width / canvas.width, color: inset.border.color },
    },
  }
}

// MARK: Playing in step

/** Plays one video, or two in step: the lead gives the time and the sound, and the other one follows it. `tracks`: `{name, video, start,
 *  length}`, where `start` is the position in the video at which the deck is at 0. */
class Deck {
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

  listen() { this.tracks.forEach(each => { each.video.muted = isSilent || each !== this.lead }) }

  #start() {
    for (const { video } of this.tracks) {
      video.play().catch(error => {
        if (error.name !== "NotAllowedError" || !this.isPlaying) return
        if (video.muted) return this.pause()
        // Browsers play no sound before a person has acted on the page.
        isSilent = true
        listeners.forEach(listen => listen())
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

// MARK: The player

class Player {
  #decks = new Map()
  #layers = new Map()
  #tiles = {}
  #deck = null
  #wantsToPlay

  constructor(post, { app, signal, autoplay }) {
    Object.assign(this, { post, signal, assets: post.assets ?? {}, foreground: post.foreground ?? "front", composition: standard })
    this.modes = modesOf(this.assets)
    this.#wantsToPlay = autoplay && !prefersStillness()
    if (!this.modes.length) {
      this.element = h("div", { class: "player" }, h("p", { class: "empty" }, "The media are not there yet."))
      return
    }
    this.#build()
    this.choose(this.modes[0])
    compositionOf(app).then(found => {
      if (found === standard || signal?.aborted) return
      this.composition = found
      this.#arrange()
    })
    if (this.#deck) this.#watch()
    const listen = () => { this.#deck?.listen(); this.#draw() }
    listeners.add(listen)
    signal?.addEventListener("abort", () => { listeners.delete(listen); this.#end() })
  }

  get #canSwap() { return this.modes.includes("both") || this.modes.includes("stills") || !!this.assets["composed.swapped"] }

  #build() {
    const button = (name, label, body) => h("button", { class: "icon-button", "aria-label": label, title: label, onclick: body }, icon(name))
    this.playButton = button("play", "Play", () => this.toggle())
    this.swapButton = button("swap", "Swap the cameras", () => this.swap())
    this.soundButton = button("silent", "Sound on", () => this.#turnSound())
    this.scrubber = h("input", { type: "range", class: "player-scrubber", min: "0", max: "1", step: "any", "aria-label": "Position", value: "0",
      oninput: () => this.#deck?.seek(+this.scrubber.value) })
    this.clock = h("span", { class: "player-clock" })
    this.note = h("p", { class: "player-note", role: "status", hidden: true })
    this.stage = h("div", { class: "player-stage", onclick: () => this.#tap() })
    const names = { both: "Both clips", composed: "Composed" }
    const choices = this.modes.filter(mode => names[mode])
    this.modeButtons = choices.length < 2 ? [] : choices.map(mode => h("button", { data: { mode }, onclick: () => this.choose(mode) }, names[mode]))
    const isVideo = !this.modes[0].startsWith("still")
    this.element = h("div", { class: "player", role: "group", tabindex: "0", "aria-label": nameOf(this.post),
      "aria-keyshortcuts": "Space S M , .", onkeydown: event => this.#key(event) }, this.stage, this.note,
    h("div", { class: "player-controls" }, isVideo && [this.playButton, this.scrubber, this.clock, this.soundButton],
      this.#canSwap && this.swapButton,
      this.modeButtons.length > 0 && h("div", { class: "player-modes", role: "group", "aria-label": "What is played" }, this.modeButtons)),
    isVideo && h("p", { class: "player-keys" }, h("kbd", {}, "Space"), " play ", this.#canSwap && [h("kbd", {}, "S"), " swap "],
      h("kbd", {}, ","), " ", h("kbd", {}, "."), " one frame ", h("kbd", {}, "M"), " sound"))
  }

  /** Shows a mode: `both`, `composed`, `clip`; the position stays. */
  choose(mode) {
    const former = this.#deck
    const time = former?.time ?? 0
    const isPlaying = former?.isPlaying ?? false
    former?.pause()
    this.mode = mode
    if (mode === "composed" && !this.assets["composed.swapped"]) this.foreground = this.post.foreground ?? "front"
    const key = this.#keyOf(mode)
    if (!this.#layers.has(key)) this.#make(mode, key)
    this.#layers.forEach((layer, each) => { layer.hidden = each !== key })
    this.#deck = this.#decks.get(key) ?? null
    this.#arrange()
    if (former && former !== this.#deck) this.#deck?.seek(time)
    if (isPlaying) this.#deck?.play()
    this.#draw()
  }

  swap() {
    if (!this.#canSwap) return
    this.foreground = other[this.foreground]
    const isMade = this.mode === "composed" && !this.assets["composed.swapped"]
    if (this.mode === "composed") return this.choose(isMade ? "both" : "composed")
    this.#arrange()
    this.#draw()
  }

  toggle() {
    if (this.#deck?.isPlaying) this.#deck.pause()
    else this.#deck?.play()
  }

  /** The layer of a mode: of the composed video there may be one with the cameras swapped. */
  #keyOf(mode) {
    return mode === "composed" && this.foreground !== (this.post.foreground ?? "front") ? "composed.swapped" : mode
  }

  #make(mode, key) {
    const assets = this.assets
    const words = this.post.alternative_text ?? this.post.caption ?? this.post.title ?? nameOf(this.post)
    if (mode === "both" || mode === "stills") {
      const tiles = Object.keys(other).map(camera =>
        this.#tile({ camera, asset: assets[`clip.${camera}`], poster: assets[`thumbnail.${camera}`], label: cameras[camera] }))
      tiles.forEach(tile => { this.#tiles[tile.camera] = tile })
      this.#add(key, tiles)
      if (mode === "both") this.#addDeck(key, this.#tracksOf(tiles))
      return
    }
    const poster = assets.poster ?? assets.thumbnail ?? assets.image
    const asset = mode === "composed" ? (key === "composed" ? lighter(assets.composed, assets["composed.small"]) : assets[key]) : assets[mode]
    const tile = this.#tile({ asset, poster: key === "composed.swapped" ? null : poster, label: words })
    this.#add(key, [tile])
    if (tile.video) this.#addDeck(key, [{ name: key, video: tile.video, start: 0, length: asset.duration }])
  }

  #tile({ camera, asset, poster, label }) {
    const canvas = poster?.thumbhash && canvasOf(poster.thumbhash)
    const image = poster && h("img", { src: poster.url, alt: asset ? "" : label, decoding: "async" })
    const video = asset && h("video", { playsinline: true, preload: "auto", tabindex: "-1", muted: true, "aria-label": label, src: asset.url })
    if (video) video.volume = volumeOf(asset)
    const element = h("div", { class: "player-tile", data: camera ? { camera } : null }, canvas, image, video)
    image?.addEventListener("error", () => image.remove(), { once: true })
    video?.addEventListener("loadeddata", () => element.classList.add("is-ready"), { once: true })
    return { camera, element, video, asset, poster }
  }

  #add(key, tiles) {
    const layer = h("div", { class: "player-layer" }, tiles.map(tile => tile.element))
    this.#layers.set(key, layer)
    this.stage.append(layer)
  }

  /** Both clips, from the moment that both show. */
  #tracksOf(tiles) {
    const shift = this.#shift()
    return tiles.map(({ camera, video, asset }) =>
      ({ name: camera, video, start: Math.max(0, camera === "front" ? shift : -shift), length: asset.duration ?? undefined }))
  }

  /** The time of a sound in the front clip minus its time in the back one; as in the composition, 0 if too little would be left. */
  #shift() {
    const shift = this.post.offset_seconds ?? 0
    const [front, back] = ["front", "back"].map(camera => this.assets[`clip.${camera}`].duration)
    if (!front || !back) return Math.abs(shift) < 1 ? shift : 0
    const common = Math.min(front - Math.max(0, shift), back - Math.max(0, -shift))
    return common < Math.min(this.composition.composed.seconds[0], front, back) - 0.02 ? 0 : shift
  }

  #addDeck(key, tracks) {
    const deck = new Deck(tracks, {
      signal: this.signal,
      onchange: () => deck === this.#deck && this.#draw(),
      ontime: () => deck === this.#deck && this.#drawTime(),
      onfail: () => this.#say("This video cannot be played. Its address may have expired: read the page again. Or this browser lacks its codec."),
    })
    this.#decks.set(key, deck)
  }

  /** Puts the clips where the composition has them. */
  #arrange() {
    const { canvas } = this.composition
    const { width, height } = this.#shapeOf(canvas)
    this.stage.style.setProperty("--shape", `${width / height}`)
    this.stage.style.setProperty("background-color", canvas.color ?? "#000000")
    this.stage.classList.toggle("is-fitted", canvas.fit === "fit")
    this.#deck?.follow(this.foreground)
    if (this.mode !== "both" && this.mode !== "stills") return
    const top = this.#tiles[this.foreground]
    const shape = (top.asset ?? top.poster)?.width ? (top.asset ?? top.poster).width / (top.asset ?? top.poster).height : canvas.width / canvas.height
    const places = placesOf(this.composition, shape)
    for (const { camera, element, video } of Object.values(this.#tiles)) {
      const isTop = camera === this.foreground
      const place = isTop ? places.foreground : places.background
      const share = value => `${value * 100}%`
      Object.entries({ left: share(place.x), top: share(place.y), width: share(place.width), height: share(place.height),
        "border-radius": `${place.radius * 100}cqw`, border: place.border ? `${place.border.width * 100}cqw solid ${place.border.color}` : "0" })
        .forEach(([name, value]) => element.style.setProperty(name, value))
      element.classList.toggle("is-top", isTop)
      video?.setAttribute("aria-label", `${cameras[camera]}, ${isTop ? "in the foreground" : "behind it"}`)
    }
  }

  /** The size of the shown video: a single clip has its own, everything else the canvas's. */
  #shapeOf(canvas) {
    const asset = this.mode === "clip" ? this.assets.clip : this.mode === "composed" ? this.assets.composed
      : this.mode === "still" ? this.assets.poster ?? this.assets.thumbnail ?? this.assets.image : null
    return asset?.width && asset.height ? asset : canvas
  }

  #draw() {
    const deck = this.#deck
    const isPlaying = deck?.isPlaying ?? false
    const label = (button, words, name) => {
      if (button.title === words) return
      button.title = words
      button.setAttribute("aria-label", words)
      show(button, icon(name))
    }
    label(this.playButton, isPlaying ? "Pause" : "Play", isPlaying ? "pause" : "play")
    label(this.soundButton, isSilent ? "Sound on" : "Sound off", isSilent ? "silent" : "sound")
    label(this.swapButton, `Swap: the ${this.foreground} camera is in the foreground`, "swap")
    this.modeButtons.forEach(each => each.setAttribute("aria-pressed", `${each.dataset.mode === this.mode}`))
    this.element.classList.toggle("is-waiting", deck?.isWaiting ?? false)
    this.element.classList.toggle("is-playing", isPlaying)
    this.#drawTime()
  }

  #drawTime() {
    const deck = this.#deck
    if (!deck) return
    const { time, duration } = deck
    this.scrubber.max = `${duration || 1}`
    this.scrubber.value = `${time}`
    const words = `${time.toFixed(2)} of ${duration.toFixed(2)} s`
    this.clock.textContent = words
    // A screen reader reads the value of the scrubber when it is moved, not at each frame.
    if (!deck.isPlaying) this.scrubber.setAttribute("aria-valuetext", words)
  }

  #tap() {
    if (this.mode === "both" || this.mode === "stills") this.swap()
    else this.toggle()
  }

  /** Takes a key that was pressed beside the player and that no control has taken. Home and End move the page there. */
  press(event) {
    if (event.key !== "Home" && event.key !== "End") this.#key(event)
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isButton = event.target.closest("button, a")
    const acts = {
      " ": () => this.toggle(), s: () => this.swap(), m: () => this.#turnSound(), ",": () => this.#step(-1), ".": () => this.#step(1),
      ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1), Home: () => this.#deck?.seek(0),
      End: () => this.#deck?.seek(this.#deck.duration - 0.05),
    }
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (!act || isButton && event.key === " ") return
    event.preventDefault()
    act()
  }

  /** Goes by frames, to the middle of each: a time at its edge may show the one before. */
  #step(frames) {
    const deck = this.#deck
    if (!deck) return
    deck.pause()
    const rate = this.composition.canvas.frames_per_second
    deck.seek(clamped((Math.floor(deck.time * rate + 1e-6) + frames + 0.5) / rate, 0, deck.duration))
  }

  #turnSound() {
    isSilent = !isSilent
    listeners.forEach(listen => listen())
  }

  #say(text) {
    this.note.textContent = text
    this.note.hidden = false
  }

  /** Plays while it is in sight. */
  #watch() {
    const sight = new IntersectionObserver(entries => {
      const isSeen = entries.at(-1).isIntersecting
      if (isSeen && this.#wantsToPlay) {
        this.#wantsToPlay = false
        this.#deck.play()
      } else if (!isSeen && this.#deck.isPlaying) {
        this.#wantsToPlay = true
        this.#deck.pause()
      }
    })
    sight.observe(this.element)
    this.signal?.addEventListener("abort", () => sight.disconnect())
  }

  /** Ends the loading too, so that no connection stays taken. */
  #end() {
    for (const deck of this.#decks.values()) {
      deck.tracks.forEach(({ video }) => { video.pause(); video.removeAttribute("src"); video.load() })
    }
  }
}

/** The composed video that the link carries: the small one on a metered or slow link. */
function lighter(composed, small) {
  const link = navigator.connection
  if (!small || !link || !composed.duration) return composed
  const rate = composed.bytes * 8 / composed.duration
  // Browsers say at most 10 Mbit/s of any link.
  return link.saveData || (link.downlink < 9 && link.downlink * 1e6 < rate) ? small : composed
}
