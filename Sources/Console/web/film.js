// The page at /film: signs in if that is needed, takes a clip of each camera, sends both in parts, and shows the moment as it comes to be.

import { Take5, pictureOfThumbhash } from "/client.js"

const $ = id => document.getElementById(id)
const cameras = ["front", "back"]
const clipNames = { front: "Front clip", back: "Back clip" }

// Credentials stay in the memory of the page. What the session has is the offset of an upload, for a reload in the middle of it.
const store = {
  get: key => sessionStorage.getItem(key), set: (key, text) => sessionStorage.setItem(key, text), delete: key => sessionStorage.removeItem(key),
}

const clips = { front: null, back: null }
let client = null
// A visitor who is not signed in learns nothing of the service: `accounts` is null then, and the sign-in tries.
let session = { signed_in: false, accounts: null }
let submission = null
// The last submission that has not become a post.
let tried = null
let watch = new AbortController()

// MARK: Views

/** Shows one part of the page under a heading. */
function show(part, heading, lead = "") {
  for (const id of ["sign-in", "film", "moment"]) $(id).hidden = id !== part
  write($("heading"), heading)
  write($("lead"), lead)
  $("lead").hidden = !lead
  document.title = `${heading} · take5`
}

/** Writes a text only if it differs, so that a screen reader says it once. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text })

/** The camera that a reason or a problem is about; null: both, or neither. */
const cameraOf = (reason, error) => cameras.find(camera => camera === reason.input) ?? cameras.find(camera => camera === error?.input) ?? null

/** Shows what went wrong in plain words, with what helps; `retry` is behind a button. */
async function complain(error, retry) {
  const reasons = error.reasons ?? []
  // The words come from the console, and are loaded only when they are needed.
  const { reasonWords } = reasons.length ? await import("./glance.js").catch(() => ({ reasonWords: code => code })) : {}
  const lines = reasons.flatMap(reason => {
    const heading = [clipNames[cameraOf(reason, error)], reasonWords(reason.code)].filter(Boolean).join(": ")
    return [element("h2", heading), element("p", reason.detail)]
  })
  if (!reasons.length) {
    lines.push(element("p", error.detail ?? error.message), error.remedy && element("p", error.remedy))
    lines.push(...(error.errors ?? []).map(each => element("p", `${each.field}: ${each.detail}`)))
  }
  if (error.requestID) lines.push(element("small", `Request ${error.requestID}`))
  const title = reasons.length ? "These clips do not make a moment" : error.title ?? "Something failed"
  $("problem").replaceChildren(element("strong", title), ...lines.filter(Boolean))
  $("problem").hidden = false
  $("again").hidden = !retry
  $("again").onclick = () => { forgive(); retry() }
  $("problem").scrollIntoView({ block: "nearest" })
}

/** Removes what went wrong before. */
function forgive() {
  $("problem").hidden = $("again").hidden = true
  for (const camera of cameras) tileOf(camera).dataset.state = clips[camera] ? "chosen" : ""
}

// MARK: Signing in

/** Looks whether the browser is signed in, or the service needs no credential. */
async function open() {
  const visitor = new Take5({ headers: { "Take5-Console": "1" }, credentials: "same-origin" })
  try {
    session = await visitor.get("/console/session")
    if (session.signed_in && session.scopes.includes("submit")) await enter(visitor, session.credential === "none" ? "" : session.name ?? "", false)
    else askForSignIn()
  } catch (error) {
    // A service without the console has accounts or tokens all the same.
    if (error.status === 404) return askForSignIn()
    show(null, "One moment, both cameras")
    complain(error, open)
  }
}

function askForSignIn() {
  const mayHaveAccounts = session.accounts !== false
  $("account").hidden = !mayHaveAccounts
  $("with-key").open = !mayHaveAccounts
  $("return").hidden = !client
  $("change").hidden = true
  show("sign-in", "Sign in", mayHaveAccounts ? "Then film your moment." : "With a user token of your app, or with an API key.")
}

/** Uses a client, once the service has accepted its credential. A sign-in of the console acts as no user. */
async function enter(next, name, mayBeUser = true) {
  const actsAsUser = mayBeUser && await next.get("/v1/posts", { friends: true, limit: 1 }).then(() => true, error => {
    // It acts as no user, or may submit and not read.
    if (["user_required", "forbidden"].includes(error.code)) return false
    throw error
  })
  if (actsAsUser && !name) name = await next.get("/v1/users/me").then(user => user.user_name ?? user.name ?? user.id, () => "")
  client = next
  $("author-field").hidden = actsAsUser
  $("author").required = !actsAsUser
  $("author").value ||= remembered()
  write($("who"), name)
  write($("change-words"), client.session ? "Sign out" : name ? "Change" : "Sign in")
  $("change").hidden = !name && session.accounts === false
  film()
}

function remembered() {
  try { return localStorage.getItem("author") ?? "" } catch { return "" }
}

/** Runs what a form asks for, and shows its problem. */
function onSubmit(id, run) {
  $(id).addEventListener("submit", async event => {
    event.preventDefault()
    forgive()
    const button = $(id).querySelector("button.primary")
    button.disabled = true
    try {
      await run()
      $(id).reset()
    } catch (error) {
      complain(error)
    } finally {
      button.disabled = false
    }
  })
}

onSubmit("account", async () => {
  const next = new Take5()
  const name = $("user-name").value.trim()
  try {
    await next.signIn({ [name.includes("@") ? "email" : "user_name"]: name, password: $("password").value, device: "Web page" })
  } catch (error) {
    if (error.code !== "accounts_off") throw error
    session.accounts = false
    return askForSignIn()
  }
  await enter(next, name)
})
onSubmit("key-form", () => enter(new Take5({ token: $("key").value.trim() }), ""))
$("return").addEventListener("click", () => { forgive(); $("change").hidden = false; film() })
$("change").addEventListener("click", async () => {
  watch.abort()
  forgive()
  if (client.session) {
    await client.signOut().catch(() => {})
    client = null
  }
  askForSignIn()
})

// MARK: Filming

const tileOf = camera => document.querySelector(`.camera[data-camera="${camera}"]`)

function film() {
  show("film", "One moment, both cameras", "Film about five seconds with each camera.")
}

/** Takes a clip, and plays it where it was chosen; null removes it. */
function choose(camera, file) {
  const [tile, video] = [tileOf(camera), tileOf(camera).querySelector("video")]
  if (video.src) URL.revokeObjectURL(video.src)
  clips[camera] = file
  tile.dataset.state = file ? "chosen" : ""
  tile.classList.remove("unplayable")
  describe(camera)
  if (file) {
    video.src = URL.createObjectURL(file)
    if (!prefersStillness()) video.play().catch(() => {})
  } else {
    video.removeAttribute("src")
    video.load()
  }
  $("send").disabled = !cameras.every(each => clips[each])
}

const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches
const megabytes = bytes => (bytes / 1e6).toFixed(1)

/** Whether the browser knows that a file is no video. */
const isOther = file => file.type !== "" && !file.type.startsWith("video/")

function describe(camera, seconds) {
  const hint = tileOf(camera).querySelector(".hint")
  const file = clips[camera]
  const size = file && (isOther(file) ? "This is not a video" : file.size === 0 ? "The file is empty" : seconds ? `${seconds.toFixed(1)} s`
    : file.size < 1e5 ? `${Math.ceil(file.size / 1000)} kB` : `${megabytes(file.size)} MB`)
  tileOf(camera).classList.toggle("warned", Boolean(file) && (isOther(file) || !file.size))
  write(hint, size ? `${size} · film again` : hint.dataset.empty)
}

for (const camera of cameras) {
  const [input, video] = [$(`${camera}-file`), tileOf(camera).querySelector("video")]
  input.addEventListener("change", () => {
    const file = input.files[0]
    // Who leaves the camera without a clip keeps the one before; the same file may be chosen again.
    if (file) choose(camera, file)
    input.value = ""
  })
  video.addEventListener("loadedmetadata", () => describe(camera, Number.isFinite(video.duration) ? video.duration : null))
  video.addEventListener("error", () => { if (clips[camera]) tileOf(camera).classList.add("unplayable") })
}

let films = true
$("library").addEventListener("click", () => {
  films = !films
  for (const [camera, side] of [["front", "user"], ["back", "environment"]]) {
    if (films) $(`${camera}-file`).setAttribute("capture", side)
    else $(`${camera}-file`).removeAttribute("capture")
  }
  write($("library"), films ? "Choose existing clips" : "Film with the camera instead")
})

// MARK: Sending

$("film").addEventListener("submit", async event => {
  event.preventDefault()
  if (submission || $("send").disabled) return
  forgive()
  const fields = { visibility: new FormData($("film")).get("visibility"), caption: $("caption").value.trim() || null }
  if (!$("author-field").hidden) {
    fields.author = $("author").value.trim()
    try { localStorage.setItem("author", fields.author) } catch { /* Then it is typed again the next time. */ }
  }
  const lock = navigator.wakeLock?.request("screen").catch(() => null)
  // The first attempt may have arrived without its response: the same moment has the same key.
  const text = JSON.stringify(fields)
  const isSame = tried?.text === text && cameras.every(camera => tried[camera] === clips[camera])
  submission = client.submitMoment({ ...clips, fields, store, key: isSame ? tried.key : undefined, onprogress: drawProgress })
  tried = { ...clips, text, key: submission.key }
  setSending(true)
  drawProgress(submission)
  try {
    follow(await submission.promise)
    tried = null
  } catch (error) {
    if (error.name === "AbortError") tried = null
    else refuse(error)
  } finally {
    submission = null
    setSending(false)
    lock?.then(held => held?.release())
  }
})

function setSending(isSending) {
  $("film").dataset.state = isSending ? "sending" : "choosing"
  $("sending").hidden = !isSending
  $("clips").disabled = $("words").disabled = $("change").disabled = isSending
  if (isSending) $("state").scrollIntoView({ block: "nearest" })
}

const stateWords = { uploading: "Sending…", paused: "Paused", submitting: "Posting…", done: "Posted", cancelled: "Cancelled", failed: "Not sent" }
const buttonWords = { paused: "Resume", waiting: "Try now" }

function drawProgress({ state, fraction, offset, length, uploads }) {
  $("sent").value = fraction
  cameras.forEach((camera, index) => { tileOf(camera).querySelector("progress").value = uploads[index].fraction })
  write($("bytes"), `${megabytes(offset)} of ${megabytes(length)} MB`)
  write($("state"), state === "waiting" ? `Waiting for the ${navigator.onLine === false ? "network" : "service"}…` : stateWords[state] ?? "")
  write($("pause"), buttonWords[state] ?? "Pause")
  $("pause").disabled = !["uploading", "paused", "waiting"].includes(state)
}

$("pause").addEventListener("click", () => buttonWords[submission?.state] ? submission.resume() : submission?.pause())
$("cancel").addEventListener("click", () => submission?.cancel())
addEventListener("beforeunload", event => { if (submission) event.preventDefault() })

/** Shows why the clips were not accepted. Both stay, and the ones to film again are marked. */
function refuse(error) {
  player.clear()
  if (error.status === 401) {
    client = null
    askForSignIn()
  } else {
    film()
  }
  complain(error)
  const concerned = (error.reasons ?? []).map(reason => cameraOf(reason, error)).filter(Boolean)
  for (const camera of concerned) tileOf(camera).dataset.state = "bad"
}

// MARK: The moment

/** Shows a post as it comes to be: its first look, then its composition, or why there is none. */
async function follow(post) {
  watch.abort()
  watch = new AbortController()
  const { signal } = watch
  show("moment", "Here it comes")
  player.clear()
  player.note("The first look comes…", true)
  write($("outcome"), "It is posted; you may close this page.")
  $("heading").focus({ preventScroll: true })
  scrollTo({ top: 0 })
  try {
    let seen = await client.wait(post.id, { for: "look", signal })
    if (seen.status === "processing") {
      player.show(seen)
      player.note("Composing…", true)
      seen = await client.wait(post.id, { signal })
    }
    finish(seen)
  } catch (error) {
    if (signal.aborted) return
    player.note("")
    complain(error, () => follow(post))
  }
}

const endings = {
  ready: ["Your moment", ""],
  held: ["Your moment", "A moderator looks at it before others see it."],
  hidden: ["Your moment", "A moderator has hidden it: only you see it."],
}

function finish(post) {
  player.note("")
  if (post.status === "rejected") return refuse({ title: "The clips were rejected", detail: "Film the moment again.", reasons: post.reasons })
  if (post.status === "failed") {
    return refuse({ title: "The service could not process the clips", detail: "Its operator can have them processed again.",
      remedy: "If the moment does not appear later, film it again." })
  }
  const [heading, words] = endings[post.status] ?? endings.ready
  show("moment", heading)
  player.show(post)
  const punctuality = { on_time: "It is on time.", late: `It is ${spanOf(post.window?.late_seconds ?? 0)} late.` }[post.window?.state]
  write($("outcome"), [words, punctuality, $("swap").hidden ? "" : "Tap it to swap the cameras."].filter(Boolean).join(" "))
}

function spanOf(seconds) {
  const [size, unit] = seconds < 60 ? [1, "second"] : seconds < 3600 ? [60, "minute"] : [3600, "hour"]
  const count = Math.round(seconds / size)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

$("another").addEventListener("click", () => {
  watch.abort()
  player.clear()
  forgive()
  cameras.forEach(camera => choose(camera, null))
  $("caption").value = ""
  film()
})

/** The rendition of a composition that the link carries. */
function renditionOf(assets) {
  const { composed } = assets
  const link = navigator.connection
  const isSlow = link?.saveData || link?.downlink < composed.bytes * 8 / 1e6 / composed.duration
  return isSlow && assets["composed.small"] || composed
}

/** Plays the composition; swapped, and before there is one, both clips in step, the foreground as the inset. */
class Player {
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

const player = new Player()
open()
