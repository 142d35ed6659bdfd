// A post with what the parts of its view share: its job and verdict, its definition, and the bytes of its media, each read once.

import { MediaBytes } from "./bytes.js"

const names = { "clip.front": "front", "clip.back": "back", clip: "clip", composed: "composed" }

export class PostRecord {
  post = null
  #kept = new Map()

  constructor(app, id, signal) {
    Object.assign(this, { app, id, signal, media: new MediaBytes(signal) })
  }

  /** Reads the post again. */
  async load() {
    this.post = await this.app.api.get(`/v1/posts/${encodeURIComponent(this.id)}`, {}, { signal: this.signal })
    return this.post
  }

  /** Forgets what has been read besides the post, because it has changed: all of it, or what is named. */
  forget(...names) {
    if (names.length) names.forEach(name => this.#kept.delete(name))
    else this.#kept.clear()
  }

  /** The job; null if there is none, or if this sign-in may not read it. */
  job() {
    return this.#once("job", async () => this.post.job?.url ? this.app.api.get(this.post.job.url, {}, { signal: this.signal }) : null)
  }

  /** The job as operators read it; null without the scope for it. */
  entry() {
    return this.#once("entry", async () => {
      if (!this.post.job || !this.app.session.can("admin")) return null
      return (await this.app.api.get("/v1/jobs", { id: this.post.job.id }, { signal: this.signal })).items[0] ?? null
    })
  }

  /** What the job has found in the media; null if that is not known. */
  async verdict() { return (await this.job())?.verdict ?? null }

  /** The definition that the service has for such posts; null without the scope for it. */
  definition() {
    return this.#once("definition", async () => {
      if (!this.app.session.can("admin")) return null
      const { items } = await this.app.api.get("/v1/operations/definitions", {}, { signal: this.signal })
      return items.find(each => each.name === this.definitionName) ?? null
    })
  }

  get definitionName() {
    if (this.post.kind === "take5") return "take5-post"
    return this.post.assets.clip || this.post.assets.thumbnail ? "marker-video" : "photo-post"
  }

  /** The videos of the post by what they show, in the order front, back, composed. */
  get videos() {
    return Object.entries(names).flatMap(([role, name]) => this.post.assets[role] ? [{ role, name, asset: this.post.assets[role] }] : [])
  }

  /** All media files with a name for each. */
  get files() {
    return [...Object.entries(this.post.assets).map(([name, asset]) => ({ name, asset })),
      ...this.post.photos.flatMap((photo, index) => Object.entries(photo).map(([role, asset]) => ({ name: `${role} ${index + 1}`, asset })))]
  }

  /** How the clips lie on the frames of the composition: `rate` in frames per second, and by clip how many of them are left out at its start. */
  async grid() {
    const decisions = (await this.verdict().catch(() => null))?.decisions ?? []
    const decision = decisions.find(each => each.subject === "time_grid")
    if (!decision) return gridByOffset(this.post.offset_seconds ?? 0)
    const [, rate] = decision.choice.match(/ at (\d+) per second/) ?? []
    const left = [...decision.reason.matchAll(/from frame (\d+) of the (front|back) on/g)]
    return { rate: Number(rate) || 30, shifts: Object.fromEntries(left.map(([, frames, name]) => [name, Number(frames)])) }
  }

  #once(name, read) {
    if (!this.#kept.has(name)) {
      const value = read()
      this.#kept.set(name, value)
      value.catch(() => this.#kept.delete(name))
    }
    return this.#kept.get(name)
  }
}

function gridByOffset(offset) {
  const frames = Math.round(offset * 30)
  return { rate: 30, shifts: frames > 0 ? { front: frames } : frames < 0 ? { back: -frames } : {} }
}
