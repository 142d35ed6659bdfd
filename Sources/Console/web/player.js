// Plays a moment: both clips in step, one of them as the inset, or the composed video.

import { compositionOf, placesOf, standard } from "./composition.js"
import { Deck, sound } from "./deck.js"
import { labelOf } from "./glance.js"
import { photos, setsOf } from "./photos.js"
import { canvasOf } from "./picture.js"
import { clamped, h, icon, prefersStillness, show } from "./ui.js"

const other = { front: "back", back: "front" }
const cameras = { front: "Front camera", back: "Back camera" }

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

/** The volume at which a video is as loud as others, -16 LUFS: browsers only attenuate. */
function volumeOf({ loudness_lufs: loudness }) {
  return Number.isFinite(loudness) ? Math.min(1, 10 ** ((-16 - loudness) / 20)) : 1
}

/** What a player can show: videos in the order of preference, otherwise pictures. */
function modesOf(assets) {
  const videos = [assets["clip.front"] && assets["clip.back"] && "both", assets.composed && "composed", assets.clip && "clip"].filter(Boolean)
  if (videos.length) return videos
  if (assets["thumbnail.front"] && assets["thumbnail.back"]) return ["stills"]
  return assets.poster || assets.image || assets.thumbnail ? ["still"] : []
}

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
    sound.listeners.add(listen)
    signal?.addEventListener("abort", () => { sound.listeners.delete(listen); this.#end() })
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
    this.element = h("div", { class: "player", role: "group", tabindex: "0", "aria-label": labelOf(this.post),
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
    const words = this.post.alternative_text ?? this.post.caption ?? this.post.title ?? labelOf(this.post)
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
    label(this.soundButton, sound.isSilent ? "Sound on" : "Sound off", sound.isSilent ? "silent" : "sound")
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

  #turnSound() { sound.turn(!sound.isSilent) }

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
