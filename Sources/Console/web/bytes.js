// The bytes of media files, which the parts of a view share: each file is fetched once, and given up when the view is left.

import { h } from "./ui.js"

export class MediaBytes {
  #files = new Map()
  #urls = new Map()
  #signal

  constructor(signal) {
    this.#signal = signal
    signal.addEventListener("abort", () => this.#urls.forEach(url => URL.revokeObjectURL(url)))
  }

  /** All bytes of an asset. */
  whole(asset) {
    if (!this.#files.has(asset.url)) {
      const bytes = this.#fetch(asset).then(response => response.arrayBuffer()).then(buffer => new Uint8Array(buffer))
      this.#files.set(asset.url, bytes)
      bytes.catch(() => this.#files.delete(asset.url))
    }
    return this.#files.get(asset.url)
  }

  /** The first bytes of an asset; in a video they hold all of its tables. */
  async start(asset, count = 262_144) {
    if (this.#files.has(asset.url)) return this.whole(asset)
    const response = await this.#fetch(asset, { headers: { Range: `bytes=0-${count - 1}` } })
    return new Uint8Array(await response.arrayBuffer())
  }

  /** The recipe by which an asset was made, and the SHA-256 of its content. */
  async head(asset) {
    const { headers } = await this.#fetch(asset, { method: "HEAD" })
    return { recipe: headers.get("Take5-Recipe"), digest: headers.get("ETag")?.replaceAll('"', "") ?? null }
  }

  /** A silent video of an asset in memory, whose frames can be sought without a request. */
  async video(asset, attributes = {}) {
    const bytes = await this.whole(asset)
    if (!this.#urls.has(asset.url)) this.#urls.set(asset.url, URL.createObjectURL(new Blob([bytes], { type: asset.type })))
    const video = h("video", { muted: true, playsinline: true, preload: "auto", ...attributes, src: this.#urls.get(asset.url) })
    await new Promise((resolve, reject) => {
      video.addEventListener("loadedmetadata", resolve, { once: true })
      video.addEventListener("error", () => reject(new Error("This browser cannot play the video.")), { once: true })
    })
    return video
  }

  async #fetch(asset, options = {}) {
    const response = await fetch(asset.url, { ...options, signal: this.#signal })
    if (response.ok) return response
    throw Object.assign(new Error(`The service answered ${response.status}.`), { title: "The media could not be read.", status: response.status })
  }
}

const seeks = new WeakMap()

/** Seeks a video, and resolves once its frame there can be drawn. Of several calls in a row the last one counts. */
export function seek(video, seconds) {
  const running = seeks.get(video)
  if (running) {
    running.next = seconds
    return running.done
  }
  const state = { next: seconds }
  state.done = seekAll(video, state).finally(() => seeks.delete(video))
  seeks.set(video, state)
  return state.done
}

async function seekAll(video, state) {
  while (state.next !== null) {
    const time = Math.max(0, Math.min(state.next, (video.duration || Infinity) - 0.001))
    state.next = null
    if (Math.abs(video.currentTime - time) < 1e-4 && video.readyState >= 2) continue
    // The frame can be drawn once it is presented; a video that presents none, because it is the same one, is not waited for long.
    const presented = new Promise(resolve => video.requestVideoFrameCallback ? video.requestVideoFrameCallback(resolve) : resolve())
    const sought = new Promise(resolve => ["seeked", "error"].forEach(name => video.addEventListener(name, resolve, { once: true })))
    video.currentTime = time
    await sought
    await Promise.race([presented, new Promise(resolve => setTimeout(resolve, 60))])
  }
}
