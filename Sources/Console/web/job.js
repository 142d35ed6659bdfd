// One job: its state as it changes, its attempts over time, its verdict or error, its post, and what can be done about it.

import { audiences, labelOf, states } from "./glance.js"
import { isEnded, jobActions, progress, timeline } from "./timeline.js"
import { badge, h, icon, show, time } from "./ui.js"

export default async function (main, { app, id, signal }) {
  const view = new JobView(main, app, id, signal)
  await view.load()
  if (signal.aborted) return
  view.start()
}

class JobView {
  #isFollowing = false
  #post = null

  constructor(main, app, id, signal) {
    Object.assign(this, { main, app, id, signal, job: null, entry: null })
    this.head = h("header", { class: "post-head" })
    this.live = h("div")
    this.body = h("div", { class: "stack" })
  }

  async load() {
    const options = { signal: this.signal }
    const [job, page] = await Promise.all([this.app.api.get(`/v1/jobs/${encodeURIComponent(this.id)}`, {}, options),
      this.app.session.can("admin") ? this.app.api.get("/v1/jobs", { id: this.id }, options).catch(() => null) : null])
    const entry = page?.items[0] ?? null
    const hasChanged = JSON.stringify([job, entry]) !== JSON.stringify([this.job, this.entry])
    Object.assign(this, { job, entry })
    return hasChanged
  }

  start() {
    show(this.main, this.head, this.live, this.body)
    this.draw()
    this.#follow()
    this.app.every(5, this.signal, async () => {
      // An ended job changes only when an operator retries it.
      if (!await this.load() || this.signal.aborted) return
      this.draw()
      this.#follow()
    })
    this.#findPost().catch(() => {})
  }

  draw() {
    const { job, entry } = this
    document.title = `Job ${job.id.slice(0, 8)} · take5`
    const actions = jobActions(this.app, job, async () => { await this.load(); this.draw(); this.#follow() }).filter(Boolean)
    show(this.head, h("p", {}, h("a", { class: "row", href: "#/jobs" }, icon("back"), "Jobs")), h("h1", {}, `Job ${job.id.slice(0, 8)}`),
      h("p", { class: "row" }, badge(job.state), job.verdict && badge(job.verdict.verdict), badge(job.kind), time(job.created_at)),
      h("div", { class: "row" }, actions, this.#postLink()))
    show(this.body, timeline(job, entry))
  }

  #postLink() {
    if (!this.#post) return null
    const { id, title, kind, author } = this.#post
    return h("a", { class: "button", href: this.app.address(`post/${id}`) }, icon("moments"), title ?? labelOf({ kind, author }))
  }

  async #follow() {
    if (this.#isFollowing || isEnded(this.job)) return
    this.#isFollowing = true
    const bar = progress(this.job)
    show(this.live, bar)
    try {
      for await (const { data: next } of this.app.api.jobEvents(this.id, { signal: this.signal })) {
        const isOther = next.state !== this.job.state || next.attempt !== this.job.attempt || next.stage !== this.job.stage
        this.job = next
        bar.update(next)
        if (isOther) this.draw()
      }
      if (!this.signal.aborted && await this.load()) this.draw()
    } catch {
      // The job is read again every few seconds anyway.
    }
    this.#isFollowing = false
    if (isEnded(this.job)) show(this.live)
  }

  /** Finds the post that the job is for: a job does not name it, but a post names its job. */
  async #findPost() {
    const { created_at: created, kind } = this.job
    const author = this.entry?.author
    if (!author || !["post", "look", "reprocess"].includes(kind)) return
    const at = Date.parse(created)
    // The job of uploads that come after the submission is younger than its post.
    const [from, to] = [new Date(at - 25 * 3_600_000).toISOString(), new Date(at + 5000).toISOString()]
    const query = { author, limit: 100, from, to, status: states, visibility: audiences }
    let read = 0
    for await (const post of this.app.api.list("/v1/posts", query, { signal: this.signal })) {
      // The first look is enqueued with the post itself.
      const isIt = post.job?.id === this.id || kind === "look" && Math.abs(Date.parse(post.created_at) - at) < 1000
      if (isIt) {
        this.#post = post
        return this.draw()
      }
      if (++read >= 300) return
    }
  }
}
