// One submission: it sends the files, follows the job by its events, and shows the first look, the result, the verdict and the times.

import { Submission as Sending } from "/client.js"
import { media } from "./player.js"
import { reasonsOf, refusal, verdict } from "./verdict.js"
import { action, bytes, counted, h, icon, percent, problem, seconds, show } from "./ui.js"

const kinds = { take5: "Moment", photo: "Photo post", marker: "Marker" }

// The rate of an upload is taken over the last milliseconds.
const rateWindow = 5000

const tones = {
  uploading: "busy", waiting: "wait", paused: "wait", submitting: "busy", processing: "busy", ready: "good", rejected: "bad", failed: "bad",
  refused: "bad", held: "wait", hidden: "bad", cancelled: "wait",
}

/** The stages of a submission in their order, with what each does. */
function stagesOf(fields, items) {
  const compose = fields.kind === "take5" ? "Compose" : "Make the outputs"
  const making = items[0].medium === "image" ? { photo: "Decode, make the sizes" } : { probe: "Examine", compose }
  const all = { upload: "Upload", check: "Checked by the service", queue: "Wait for a worker", fetch: "Fetch the files", ...making, publish: "Store the outputs", commit: "Publish" }
  return Object.entries(all).map(([name, label]) => ({ name, label, state: "", began: null, ended: null }))
}

export class Submission {
  state = "uploading"
  post = null
  #sending = null
  // A repeated submission finds the bytes that have arrived.
  #store = new Map()
  #key = null
  #listening = new AbortController()
  #shown = new AbortController()
  #times = { began: null, sent: null, look: null, ready: null }
  #samples = []
  #stage = null
  #note = ""
  #progress = 0
  #verdict = null

  /** `items`: `{file, name, medium, url, preview}`; `fields`: the fields of the post; `onremove(submission)` takes it off the list. */
  constructor(app, { fields, items, onremove }) {
    Object.assign(this, { app, fields, items, onremove })
    this.total = items.reduce((sum, each) => sum + each.file.size, 0)
    this.stages = stagesOf(fields, items)
    this.#build()
    this.#draw()
  }

  /** Whether files are lost if the page is closed. */
  get isSending() { return ["uploading", "waiting", "paused", "submitting"].includes(this.state) }
  get #isOver() { return !this.isSending && this.state !== "processing" }

  /** Shows its line only, unless it is in progress. */
  fold() { if (this.#isOver) this.element.open = false }

  /** Sends, submits and follows; also again, after a failure that may have passed. */
  async run() {
    this.#listening = new AbortController()
    show(this.reason)
    show(this.outcome)
    const timer = setInterval(() => this.#tick(), 100)
    try {
      if (!this.post) {
        await this.#send()
        this.#enter("queue")
      }
      this.#turn("processing")
      await this.#follow()
    } catch (error) {
      if (this.state !== "cancelled") this.#fail(error)
    } finally {
      clearInterval(timer)
      this.#draw()
    }
  }

  pause() { this.#sending.pause() }
  resume() { this.#sending.resume() }

  cancel() {
    this.#turn("cancelled")
    this.#stageEnds("bad")
    this.#sending.cancel()
  }

  // MARK: Sending

  async #send() {
    this.#times.began ??= performance.now()
    this.#times.sent = null
    this.#turn("uploading")
    this.#enter("upload")
    const sending = this.#sending = new Sending(this.app.api, this.items.map(each => [each.name, each.file]), this.fields,
      { store: this.#store, ...this.#key && { key: this.#key }, onprogress: () => this.#sent() })
    this.#key = sending.key
    this.items.forEach((each, index) => { each.upload = sending.uploads[index] })
    this.post = await sending.promise
  }

  #sent() {
    const state = this.#sending?.state
    this.#measure()
    if (this.state === "cancelled" || !["uploading", "waiting", "paused", "submitting"].includes(state)) return
    if (state === "submitting" && !this.items.every(each => each.upload.state === "done")) return
    if (state === "submitting" && !this.#times.sent) {
      this.#times.sent = performance.now()
      this.#enter("check")
    }
    if (state !== this.state) this.#turn(state)
    this.#drawBars()
  }

  #measure() {
    const now = performance.now()
    this.#samples.push([now, this.#sending?.offset ?? 0])
    while (this.#samples.length > 2 && now - this.#samples[0][0] > rateWindow) this.#samples.shift()
  }

  /** Bytes a second; null while it is not known. */
  get #rate() {
    if (this.#samples.length < 2) return null
    const [[began, first], [, last]] = [this.#samples[0], this.#samples.at(-1)]
    return last > first ? (last - first) / (performance.now() - began) * 1000 : null
  }

  // MARK: Following

  async #follow() {
    const { signal } = this.#listening
    if (this.post.status !== "processing") return this.#end(this.post)
    // Without its events or its first look a submission still ends.
    this.#readEvents(signal).catch(() => {})
    this.#waitForLook(signal).catch(() => {})
    await this.#end(await this.app.api.wait(this.post.id, { for: "ready", signal }))
  }

  async #readEvents(signal) {
    if (!this.post.job) return
    for await (const { data } of this.app.api.jobEvents(this.post.job.id, { signal })) this.#take(data)
  }

  #take(job) {
    if (job.verdict) this.#verdict = job.verdict
    if (this.#isOver) return
    this.#progress = job.progress
    this.#note = job.attempt > 1 ? `attempt ${job.attempt} of ${job.max_attempts}` : ""
    if (job.state === "executing") this.#enter(job.stage ?? "fetch")
    else if (job.state === "available" || job.state === "scheduled") this.#enter("queue")
    this.#draw()
  }

  async #waitForLook(signal) {
    const post = await this.app.api.wait(this.post.id, { for: "look", signal })
    if (this.#times.ready || post.status !== "processing") return
    const element = this.#media(post)
    if (!element) return
    this.#times.look = performance.now()
    show(this.picture, h("p", { class: "picture-says" }, "First look"), element)
    this.#say(`The first look is there, ${this.#span("sent", "look")} after the last byte.`)
    this.#draw()
  }

  async #end(post) {
    this.#times.ready = performance.now()
    this.post = post
    this.#stageEnds(["rejected", "failed"].includes(post.status) ? "bad" : "done")
    this.#turn(post.status)
    const element = this.#media(post)
    if (element) show(this.picture, element)
    else if (!this.#times.look || post.status === "rejected") this.#showFiles()
    show(this.reason, reasonsOf(post))
    // The last event has the verdict too, but may come later than the post.
    const job = post.job?.url ? await this.app.api.get(post.job.url).catch(() => null) : null
    this.#listening.abort()
    const found = job?.verdict ?? this.#verdict
    if (found) show(this.outcome, verdict(found, { hasReasons: post.status !== "rejected" }))
    this.#release()
  }

  /** The player or the photos of a post, in place of those before. */
  #media(post) {
    const shown = new AbortController()
    const element = media(post, { app: this.app, signal: shown.signal })
    if (!element) return null
    this.#shown.abort()
    this.#shown = shown
    return element
  }

  #fail(error) {
    this.#listening.abort()
    const failed = this.items.filter(each => each.upload?.state === "failed")
    failed.forEach(each => { each.isRefused = true })
    const mayPass = this.post || !error.status || error.status >= 500 || [408, 409, 429].includes(error.status)
    // A refused submission leaves nothing behind; the service itself has removed a file that it refused.
    if (!mayPass) this.items.filter(each => each.upload?.state !== "failed").forEach(each => each.upload?.cancel())
    if (!mayPass) this.#enter("check")
    this.#stageEnds("bad")
    // A file that is refused before all of it has arrived was not sent to its end.
    if (!mayPass && !this.#times.sent) Object.assign(this.stages[0], { state: "", began: null, ended: null })
    this.#turn(mayPass ? "failed" : "refused")
    show(this.reason, failed.length > 0 && h("p", {}, "The file ", h("strong", {}, failed.map(each => each.file.name).join(", ")), ":"),
      this.post ? problem(error) : refusal(error), mayPass && h("button", { class: "again", onclick: () => this.run() }, "Try again"))
  }

  // MARK: Stages and times

  #enter(name) {
    if (this.#stage?.name === name) return
    const index = this.stages.findIndex(each => each.name === name)
    if (index < 0) return
    const now = performance.now()
    this.#stageEnds("done", now)
    // The events of quick stages may be left out; another attempt does its stages again.
    this.stages.forEach((each, place) => {
      if (place < index && each.state !== "done") Object.assign(each, { state: "done", began: null, ended: null })
      if (place > index) Object.assign(each, { state: "", began: null, ended: null })
    })
    this.#stage = Object.assign(this.stages[index], { state: "busy", began: now, ended: null })
    this.#draw()
  }

  #stageEnds(state, now = performance.now()) {
    if (this.#stage) Object.assign(this.#stage, { state, ended: now })
    if (state === "done" && this.#times.ready) this.stages.forEach(each => { each.state = "done" })
    this.#stage = null
  }

  /** The time between two points in words. */
  #span(from, to) {
    const [began, ended] = [this.#times[from], this.#times[to]]
    if (!began || !ended && this.#isOver) return "–"
    return seconds(((ended ?? performance.now()) - began) / 1000)
  }

  #turn(state) {
    this.state = state
    const said = {
      uploading: `It sends ${counted(this.items.length, "file")}, ${bytes(this.total)}.`,
      waiting: "The network or the service is not there. The upload continues by itself.",
      paused: "The upload is paused. The service keeps the bytes that have arrived for an hour.", submitting: "All bytes have arrived.",
      processing: "The service has the submission.", ready: `It is ready, ${this.#span("sent", "ready")} after the last byte.`,
      rejected: "The media were processed, and are rejected.", failed: this.post?.status === "failed" ? "The service could not process the media." : "The service has not answered as it should.", held: "It is ready, and waits for a moderator.",
      refused: "The service has refused it before any processing.", cancelled: "It is cancelled. Nothing was submitted.",
    }
    this.#say(said[state] ?? "")
    this.#draw()
    this.#drawButtons()
  }

  #say(text) { this.said.textContent = text }

  // MARK: View

  #build() {
    const { kind, author, caption, title } = this.fields
    this.badge = h("span", { class: "badge" })
    this.brief = h("span", { class: "quiet number" })
    this.said = h("p", { role: "status" })
    this.buttons = h("div", { class: "row" })
    this.bars = h("ul", { class: "upload-bars", "aria-label": "Upload" }, this.items.map(each => {
      each.bar = h("progress", { max: `${Math.max(1, each.file.size)}`, value: 0, "aria-label": each.file.name })
      each.share = h("span", { class: "number" })
      return h("li", {}, h("span", { class: "preview-name" }, each.file.name), each.bar, each.share)
    }))
    this.sum = h("p", { class: "upload-sum" })
    this.steps = h("ol", { class: "submission-stages", "aria-label": "Stages" })
    this.reason = h("div")
    this.outcome = h("div")
    this.picture = h("div", { class: "submission-picture" })
    this.clocks = { upload: h("b"), look: h("b"), ready: h("b") }
    const names = { upload: "first to last byte", look: "last byte to first look", ready: "last byte to the result" }
    const tiles = Object.entries(names).map(([name, label]) => h("div", { class: "tile" }, this.clocks[name], h("span", {}, label)))
    this.#showFiles()
    this.element = h("details", { class: "card submission", open: true },
      h("summary", {}, this.badge, h("strong", {}, `${kinds[kind]} by ${author}`), h("span", { class: "submission-text" }, title ?? caption ?? ""),
        this.brief),
      h("div", { class: "submission-body" }, this.picture, h("div", { class: "stack" },
        h("div", { class: "submission-said" }, this.said, this.buttons), this.reason, h("div", {}, this.bars, this.sum),
        h("div", { class: "tiles" }, tiles), this.steps, this.outcome)))
  }

  /** The files as they lie on this device. */
  #showFiles() {
    show(this.picture, h("div", { class: `local-files ${this.items.length > 1 ? "is-many" : ""}` }, this.items.map(each => each.preview)))
    // A video stops when it is moved.
    this.items.forEach(each => { if (each.preview.autoplay) each.preview.play().catch(() => {}) })
  }

  /** The files of this device are needed no longer once the service shows its own. */
  #release() {
    if (!this.picture.querySelector(".local-files")) this.items.forEach(each => URL.revokeObjectURL(each.url))
  }

  #tick() {
    if (this.state === "uploading") this.#measure()
    if (this.isSending) this.#drawBars()
    this.#drawTimes()
    if (this.#stage?.clock) this.#stage.clock.textContent = this.#stageTime(this.#stage)
  }

  #draw() {
    this.badge.className = `badge ${tones[this.state] ?? "plain"}`
    this.badge.textContent = this.state
    this.#drawBars()
    this.#drawTimes()
    show(this.steps, this.stages.map(each => {
      each.clock = h("small", {}, this.#stageTime(each))
      return h("li", { class: each.state || null, "aria-current": each.state === "busy" ? "step" : null }, h("span", {}, each.label), each.clock)
    }))
  }

  #stageTime({ name, began, ended, state }) {
    if (!began) return state === "done" ? "at once" : ""
    const isOfJob = name !== "upload" && name !== "queue"
    return [seconds(((ended ?? performance.now()) - began) / 1000), isOfJob && state === "busy" && this.#progress > 0 && percent(this.#progress),
      state === "busy" && this.#note].filter(Boolean).join(", ")
  }

  #drawBars() {
    for (const { file, upload, bar, share, isRefused } of this.items) {
      const isDone = upload?.state === "done" || !!this.post
      const part = isDone ? 1 : file.size ? (upload?.offset ?? 0) / file.size : 0
      bar.value = part * bar.max
      share.textContent = isRefused ? "refused" : isDone ? "sent" : percent(part)
    }
    this.sum.textContent = this.#sumText()
  }

  #sumText() {
    const { began, sent } = this.#times
    if (sent) {
      const time = Math.max(0.001, (sent - began) / 1000)
      return `${bytes(this.total)} in ${seconds(time)}, ${bytes(this.total / time)}/s`
    }
    const arrived = this.#sending?.offset ?? 0
    const rate = this.state === "uploading" ? this.#rate : null
    const rest = rate && [`${bytes(rate)}/s`, `${seconds((this.total - arrived) / rate)} left`]
    return [`${bytes(arrived)} of ${bytes(this.total)}`, ...rest ?? []].join(" · ")
  }

  #drawTimes() {
    const { look, ready } = this.#times
    this.clocks.upload.textContent = this.#span("began", "sent")
    this.clocks.look.textContent = ready && !look ? "–" : this.#span("sent", "look")
    this.clocks.ready.textContent = this.#span("sent", "ready")
    const brief = [look && `look ${this.#span("sent", "look")}`, ready && `${this.state} ${this.#span("sent", "ready")}`]
    this.brief.textContent = brief.filter(Boolean).join(" · ")
  }

  #drawButtons() {
    const hadFocus = this.buttons.contains(document.activeElement)
    const job = this.post?.job?.id
    show(this.buttons,
      ["uploading", "waiting"].includes(this.state) && h("button", { onclick: () => this.pause() }, icon("pause"), "Pause"),
      this.state === "paused" && h("button", { class: "primary", onclick: () => this.resume() }, icon("play"), "Resume"),
      this.state === "waiting" && h("button", { onclick: () => this.resume() }, icon("play"), "Try now"),
      ["uploading", "waiting", "paused"].includes(this.state) && h("button", { onclick: () => this.cancel() }, icon("close"), "Cancel"),
      this.state === "processing" && job && action(this.app, { label: "Cancel the job", icon: "close", scopes: ["admin"], run: async () => {
        await this.app.api.post(`/v1/jobs/${job}/cancel`)
        return "The job ends."
      } }),
      this.post && h("a", { class: "button", href: this.app.address(`post/${this.post.id}`) }, "Open the post"),
      job && h("a", { class: "button", href: this.app.address(`job/${job}`) }, "Open the job"),
      this.#isOver && h("button", { onclick: () => this.#remove() }, "Remove from the list"))
    if (hadFocus) this.buttons.querySelector("button, a")?.focus()
  }

  #remove() {
    this.#shown.abort()
    this.items.forEach(each => URL.revokeObjectURL(each.url))
    this.onremove(this)
  }
}
