// The page at /film: signs in if that is needed, takes a clip of each camera, sends both in parts, and shows the moment as it comes to be.

import { Take5 } from "/client.js"
import { choose, clips, megabytes } from "./filmclips.js"
import { $, cameras, tileOf, write } from "./filmpage.js"
import { Player } from "./filmplayer.js"

const clipNames = { front: "Front clip", back: "Back clip" }

// Credentials stay in the memory of the page. What the session has is the offset of an upload, for a reload in the middle of it.
const store = {
  get: key => sessionStorage.getItem(key), set: (key, text) => sessionStorage.setItem(key, text), delete: key => sessionStorage.removeItem(key),
}

let client = null
// A visitor who is not signed in learns nothing of the service: `accounts` is null then, and the sign-in tries.
let session = { signed_in: false, accounts: null }
let submission = null
// The last submission that has not become a post.
let tried = null
let watch = new AbortController()
const player = new Player()

// MARK: Views

/** Shows one part of the page under a heading. */
function show(part, heading, lead = "") {
  for (const id of ["sign-in", "film", "moment"]) $(id).hidden = id !== part
  write($("heading"), heading)
  write($("lead"), lead)
  $("lead").hidden = !lead
  document.title = `${heading} · take5`
}

function film() {
  show("film", "One moment, both cameras", "Film about five seconds with each camera.")
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

open()
