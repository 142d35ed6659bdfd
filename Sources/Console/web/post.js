// One post from the inside out: what a viewer sees, its files, frames, sounds and colours, what was removed, the definition and the attempts.
// While it is processed the view follows: the first look, then the result.

import { ask, userAddress } from "./parts.js"
import { PostRecord } from "./record.js"
import { progress } from "./timeline.js"
import { action, badge, command, confirm, failure, field, h, icon, show, showDialog, storeNote, time } from "./ui.js"

const nouns = { take5: "Moment", photo: "Photos", marker: "Marker" }

// A part is a module of its own, which is loaded when it is first opened.
const parts = [
  { name: "watch", title: "Watch", load: () => import("./watch.js") },
  { name: "files", title: "Files", load: () => import("./sources.js"), fits: ({ files, post }) => files.length > 0 || post.job },
  { name: "frames", title: "Frames", load: () => import("./frames.js"), fits: ({ videos }) => videos.length > 0 },
  { name: "sound", title: "Sound", load: () => import("./waveform.js"), fits: ({ videos }) => videos.length > 0 },
  { name: "colour", title: "Colour", load: () => import("./colour.js"), fits: ({ post }) => post.job },
  { name: "privacy", title: "Privacy", load: () => import("./privacy.js"), fits: ({ post }) => post.job },
  { name: "definition", title: "Definition", load: () => import("./definition.js"), fits: ({ post }) => post.job },
  { name: "attempts", title: "Attempts", load: () => import("./attempts.js"), fits: ({ post }) => post.job },
]

export default async function (main, { app, id, query, signal }) {
  const record = new PostRecord(app, id, signal)
  await record.load()
  if (!signal.aborted) new PostView(main, record, query.get("tab")).start()
}

class PostView {
  #opened = null
  #isFollowing = false

  constructor(main, record, part) {
    Object.assign(this, { main, record, app: record.app, signal: record.signal, part: part ?? "watch" })
    this.head = h("header", { class: "post-head" })
    this.live = h("div")
    this.news = h("div", { role: "status" })
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of this post", onkeydown: event => this.#press(event) })
    this.panel = h("div", { class: "stack", role: "tabpanel", id: "post-part", tabindex: "0" })
  }

  get post() { return this.record.post }

  /** Whether the view is left, or the post is deleted. */
  get isOver() { return this.signal.aborted || this.isGone }

  start() {
    show(this.main, this.head, this.live, this.news, this.tabs, this.panel)
    this.#drawHead()
    this.#open(this.part)
    this.signal.addEventListener("abort", () => this.#opened?.abort())
    this.#follow()
    this.app.every(5, this.signal, () => this.isGone || this.refresh())
  }

  // MARK: Head

  #drawHead() {
    const { post } = this
    const title = post.title ?? `${nouns[post.kind] ?? "Post"} by ${post.author}`
    document.title = `${title} · take5`
    show(this.head, h("p", {}, h("a", { class: "row", href: "#/moments" }, icon("back"), "Moments")), h("h1", {}, title),
      h("p", { class: "row" }, badge(post.status), badge(post.visibility), post.window && badge(post.window.state.replace("_", " ")), "by ",
        h("a", { href: userAddress(this.app, post.author) }, post.author), time(post.created_at)),
      h("div", { class: "row" }, this.#actions()))
  }

  #actions() {
    const { post } = this
    const canApprove = post.status === "held" || post.status === "hidden"
    return [
      canApprove && this.#decision("Approve", "approve", "The post is then as its visibility says.", "primary"),
      post.status !== "hidden" && this.#decision("Hide", "hide", "Only its author sees it then, and no list, count or map has it."),
      action(this.app, { label: "Delete", scopes: ["delete"], run: () => this.#delete() }),
      post.job && action(this.app, { label: "How to make it again", run: () => this.#explainReprocessing() }),
      h("button", { onclick: () => this.#showJSON() }, "JSON"),
    ]
  }

  #decision(label, decision, text, kind) {
    return action(this.app, { label, scopes: ["moderate"], class: kind, run: async () => {
      const note = field({ label: "Note for other moderators", name: "note", maxlength: 5000, autocomplete: "off" })
      const answer = await ask({ title: `${label} this post?`, text, content: note, action: label, isDangerous: decision === "hide" })
      if (!answer) return null
      const made = await this.app.api.post("/v1/moderation/cases", { post: this.post.id, decision, note: answer.note || null })
      await this.refresh()
      return `${decision === "hide" ? "The post is hidden" : "The post is approved"}: case ${made.id.slice(0, 8)}.`
    } })
  }

  async #delete() {
    const text = "It is deleted at once with its comments, reactions, likes, bookmarks and media. This cannot be undone."
    if (!await confirm({ title: "Delete this post?", text, action: "Delete", isDangerous: true })) return null
    await this.app.api.delete(`/v1/posts/${this.post.id}`)
    this.isGone = true
    this.app.go("moments")
    return "The post is deleted."
  }

  async #explainReprocessing() {
    const { id, status } = this.post
    const rejected = status === "rejected" ? " --rejected" : ""
    const lines = h("div", { class: "stack" }, command(`take5 reprocess ${id}${rejected} --dry-run`), command(`take5 reprocess ${id}${rejected}`),
      status === "ready" && command(`take5 reprocess ${id} --force`))
    const runs = h("a", { href: this.app.address("store", { tab: "runs" }), onclick: () => dialog.close() }, "Runs of reprocessing")
    const dialog = h("dialog", { "aria-labelledby": "again-title" }, h("form", { method: "dialog" }, h("h2", { id: "again-title" }, "How to make the outputs again"),
      h("p", {}, "This page changes nothing. These commands on the server make the outputs again from the sources; this view shows them once they are there."),
      lines, storeNote(), h("p", {}, "What runs now: ", runs), h("div", { class: "buttons" }, h("button", {}, "Close"))))
    showDialog(dialog)
  }

  #showJSON() {
    showDialog(h("dialog", { class: "wide-dialog", "aria-label": "The post as JSON" }, h("form", { method: "dialog" },
      h("pre", { tabindex: "0" }, JSON.stringify(this.post, null, 2)), h("div", { class: "buttons" }, h("button", { class: "primary" }, "Close")))))
  }

  // MARK: Parts

  get #fitting() { return parts.filter(part => !part.fits || part.fits(this.record)) }

  #drawTabs() {
    const isFocused = this.tabs.contains(document.activeElement)
    show(this.tabs, this.#fitting.map(part => {
      const isChosen = part.name === this.part
      return h("button", { role: "tab", id: `tab-${part.name}`, "aria-selected": `${isChosen}`, "aria-controls": "post-part",
        tabindex: isChosen ? "0" : "-1", onclick: () => this.#enter(part.name) }, part.title)
    }))
    this.panel.setAttribute("aria-labelledby", `tab-${this.part}`)
    if (isFocused) this.tabs.querySelector("[aria-selected=true]").focus()
  }

  #press(event) {
    const list = this.#fitting
    const current = list.findIndex(part => part.name === this.part)
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: list.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    this.#open(list.at(next % list.length).name)
  }

  /** Opens a part by a click or Enter; one that keys move then gets the focus, which arrow keys in the list leave on the tab. */
  async #enter(name) {
    await this.#open(name)
    if (this.part !== name || this.isOver || !this.tabs.contains(document.activeElement)) return
    const movable = name === "frames" ? this.panel : name === "watch" ? this.panel.querySelector(".player") : null
    movable?.focus({ preventScroll: true })
  }

  async #open(name) {
    const part = this.#fitting.find(each => each.name === name) ?? parts[0]
    this.part = part.name
    this.#opened?.abort()
    const opened = this.#opened = new AbortController()
    history.replaceState(null, "", this.app.address(`post/${this.post.id}`, { tab: part.name === "watch" ? null : part.name }))
    this.#drawTabs()
    show(this.news)
    const panel = h("div", { class: "stack" }, h("p", { class: "empty" }, "Loading…"))
    show(this.panel, panel)
    try {
      const module = await part.load()
      if (opened.signal.aborted) return
      await module.default(panel, { record: this.record, app: this.app, signal: opened.signal, reload: () => this.refresh() })
    } catch (error) {
      if (opened.signal.aborted || error.name === "AbortError") return
      if (error.status === 401) return this.app.failed(error)
      show(this.panel, failure(error, () => this.#open(name)))
    }
  }

  // MARK: Live

  /** Reads the post again, and shows what has changed. */
  async refresh() {
    const before = this.post
    try {
      await this.record.load()
    } catch (error) {
      if (error.status === 404 || error.status === 410) return this.#gone()
      throw error
    }
    if (this.isOver || contentOf(before) === contentOf(this.post)) return
    this.#drawHead()
    this.#drawTabs()
    if (mediaOf(before) !== mediaOf(this.post) || before.status !== this.post.status) this.#takeMedia(before)
    else if (this.part === "watch" && before.updated_at !== this.post.updated_at) this.#offer("The post was changed.")
    if (this.post.status === "processing") this.#follow()
  }

  /** Shows new media at once where the person waits for them, and otherwise offers them. */
  #takeMedia(before) {
    this.record.forget()
    if (before.status === "processing" || !this.record.files.length) return this.#open(this.part)
    this.#offer(before.status === this.post.status ? "The outputs were made again." : `The post is ${this.post.status} now.`)
  }

  #offer(text) {
    show(this.news, h("p", { class: "card row" }, text, h("button", { class: "primary", onclick: () => this.#open(this.part) }, "Show it")))
  }

  #gone() {
    this.isGone = true
    this.#opened?.abort()
    show(this.main, h("h1", {}, "The post is gone"), h("p", {}, "It was deleted, or this sign-in does not see it any more."),
      h("a", { class: "button", href: "#/moments" }, "Moments"))
  }

  /** Follows a post that is processed: its first look and its end, and the progress of its job. */
  async #follow() {
    if (this.#isFollowing || this.isOver || this.post.status !== "processing") return
    this.#isFollowing = true
    this.#followJob()
    while (!this.isOver && this.post.status === "processing") {
      try {
        await this.app.api.wait(this.post.id, { for: this.record.files.length ? "ready" : "look", signal: this.signal })
        await this.refresh()
      } catch (error) {
        if (this.isOver || error.status === 401) break
      }
      await new Promise(resolve => setTimeout(resolve, 500))
    }
    this.#isFollowing = false
    show(this.live)
  }

  async #followJob() {
    const { job } = this.post
    if (!job?.url) return
    const bar = progress(job)
    show(this.live, bar)
    try {
      for await (const { data } of this.app.api.jobEvents(job.id, { signal: this.signal })) bar.update(data)
      if (!this.isOver) await this.refresh()
    } catch {
      // The post is read again anyway, so its state is shown without the progress.
    }
  }
}

/** What the head shows of a post: all but the progress of its job. */
const contentOf = post => JSON.stringify({ ...post, job: null })

/** By what the media of two readings of a post differ: the paths of all files, without their signatures. */
function mediaOf({ assets, photos }) {
  return [assets, ...photos].flatMap(files => Object.entries(files).map(([role, asset]) => `${role} ${asset.url.split("?")[0]}`)).join()
}
