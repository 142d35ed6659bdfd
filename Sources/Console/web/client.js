// The client of the service, for apps, for the console and for Node 18 and later: requests that repeat what is safe, uploads that survive a
// broken network, submissions, events, sessions and lists. One module without dependencies; its import touches no global of a page.

const maxWait = 60 // Seconds. A request whose `Retry-After` is longer fails at once: the caller knows better what to do with that time.
const answerTimeout = 90 // Seconds without an answer; a request waits for a job for 50 at most.
const streamTimeout = 45 // Seconds without a byte; the service sends a comment each 15.
const minPart = 64 << 10
const maxPart = 3 << 20 // Below 4 MiB the service sends no interim response, which some clients and proxies take for the final one.

// Three problems have registered types where the upload protocol names them.
const registered = { "digest-mismatching-values": "digest_mismatch", "mismatching-upload-offset": "upload_offset",
  "inconsistent-upload-length": "upload_length" }

/** A refusal of the service (RFC 9457). If it cannot be reached, `status` is 0 and `code` is `network`. `reasons` belong to rejected media,
 *  `members` all that the problem says; `input` is the part of a submission that failed. */
export class Problem extends Error {
  constructor(members = {}, { status = 0, requestID = null, retryAfter = null, cause } = {}) {
    super([members.title, members.detail].filter(Boolean).join(": "), cause && { cause })
    const { type = null, title = null, detail = null, remedy = null, errors = [], reasons = [] } = members
    const last = typeof type === "string" && type !== "about:blank" ? type.split(/[:#/]/).pop() : null
    const code = registered[last] ?? last
    Object.assign(this, { name: "Problem", status, type, code, title, detail, remedy, errors, reasons, members, requestID, retryAfter, input: null })
  }

  /** The problem of a response with this text, which may come from a proxy. */
  static of({ status, statusText, headers }, text) {
    const after = headers.get("Retry-After")
    const seconds = /^\d+$/.test(after) ? Number(after) : Math.max(0, (Date.parse(after) - Date.now()) / 1000)
    return new Problem({ title: statusText || `Status ${status}`, ...(text.startsWith("{") ? parsed(text) : {}) },
      { status, requestID: headers.get("X-Request-Id"), retryAfter: Number.isFinite(seconds) ? seconds : null })
  }

  static unreachable(cause) {
    return new Problem({ type: "urn:take5:problem:network", title: "The service cannot be reached",
      detail: "The network is interrupted, or the service does not run.", remedy: "Check the connection, and try again." }, { cause })
  }
}

function parsed(text) {
  try { return JSON.parse(text) } catch { return text }
}

/** Whether a repetition may succeed: no answer came, or the service asks for one after a short time. */
function isPassing(error) {
  if (!(error instanceof Problem)) return false
  if ([0, 408, 502, 504].includes(error.status)) return true
  const asksForIt = [429, 503].includes(error.status) || error.code === "idempotency_key_running"
  return asksForIt && error.retryAfter !== null && error.retryAfter <= maxWait
}

/** The seconds before the next attempt: what the service says, within bounds, or twice as many each time; a part is random, so that clients
 *  spread. */
function delay(failures, error) {
  if (Number.isFinite(error?.retryAfter)) return Math.min(maxWait, error.retryAfter) + Math.random()
  if (globalThis.navigator?.onLine === false) return 30
  return Math.min(30, 0.5 * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
}

/** Waits for some seconds, or until the network comes back; an aborted signal ends it with its reason. */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      globalThis.removeEventListener?.("online", end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, seconds * 1000)
    signal?.addEventListener("abort", end)
    globalThis.addEventListener?.("online", end)
    if (signal?.aborted) end()
  })
}

/** A new Idempotency-Key. A page without TLS has no randomUUID, and Node 18 no global crypto; the key need not be secret. */
function newKey() {
  const bytes = new Uint8Array(16)
  if (globalThis.crypto) globalThis.crypto.getRandomValues(bytes)
  else bytes.forEach((_, index) => { bytes[index] = Math.random() * 256 })
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")
}

/** Parameters as text: a list repeats its parameter; null and undefined are left out. */
function textOf(query) {
  if (query instanceof URLSearchParams) return query.toString()
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) => [value].flat().map(each => [name, each]))
  return new URLSearchParams(pairs.filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, value instanceof Date ? value.toISOString() : `${value}`])).toString()
}

/** A signal that is aborted with the caller's, and when too many seconds pass without `restart`. */
function deadlineOf(outer, seconds) {
  const controller = new AbortController()
  const { signal } = controller
  const stop = () => controller.abort()
  let timer
  const restart = () => {
    clearTimeout(timer)
    if (seconds) timer = setTimeout(stop, seconds * 1000)
  }
  const end = (isCut = false) => {
    clearTimeout(timer)
    outer?.removeEventListener("abort", stop)
    if (isCut) stop()
  }
  // What an error means: the end that the caller wants, a problem of the service, or that it cannot be reached.
  const explain = error => {
    if (outer?.aborted) return outer.reason ?? error
    const isOfNetwork = signal.aborted || error instanceof TypeError || error?.name === "NetworkError"
    return isOfNetwork && !(error instanceof Problem) ? Problem.unreachable(error) : error
  }
  outer?.addEventListener("abort", stop)
  if (outer?.aborted) stop()
  restart()
  return { signal, restart, end, explain }
}

/** The body of a response: parsed JSON, text, or a Blob; null if it is empty. */
async function contentOf(response) {
  const type = response.headers.get("Content-Type") ?? ""
  if (type && !/json|^text\//.test(type)) return response.blob()
  const text = await response.text()
  return text === "" ? null : /json/.test(type) ? JSON.parse(text) : text
}

/** A client of one service. */
export class Take5 {
  /** Is called with each new session, and with null once it has ended: an app that keeps sessions stores it here. */
  onsession = null
  #fetch
  #session = null
  #renewal = null
  #renewAt = Infinity

  /** `url`: the service, such as `https://api.example.org`; empty: the page's. `token`: an API key or a user token, or an (async)
   *  function that returns one. `headers` are sent with each request. `renew(problem)`: returns a new token after a 401, or null.
   *  `retries`: how often a request is repeated at most, if it does not say so itself. */
  constructor({ url = "", token = null, headers = {}, credentials = "omit", fetch = globalThis.fetch, renew = null, retries = 5 } = {}) {
    if (!url && !globalThis.location) throw new Error("A client outside of a page needs the url of the service.")
    Object.assign(this, { url: url.replace(/\/+$/, ""), token, headers, credentials, renew, retries })
    // The fetch of a browser must not be called as a method of something else.
    this.#fetch = (...all) => fetch(...all)
  }

  // MARK: Requests

  /** Sends a request, and repeats it a few times if that is safe: GET, HEAD, PUT, DELETE, and what has a `key` (Idempotency-Key).
   *  `json` is a value, `body` bytes (Blob, FormData, text). Returns `{status, headers, body}`; throws a Problem, or the signal's reason. */
  async request(method, path, options = {}) {
    const { signal, key, isSafe, retries = this.retries } = options
    const isRepeatable = isSafe || key || ["GET", "HEAD", "PUT", "DELETE"].includes(method)
    for (let failures = 1, isLost = false; ; failures++) {
      try {
        return await this.#exchange(method, path, options)
      } catch (error) {
        // The attempt whose response was lost has deleted it.
        if (method === "DELETE" && isLost && error?.status === 404) return { status: 204, headers: new Headers(), body: null }
        if (!isRepeatable || failures > retries || !isPassing(error)) throw error
        isLost ||= error.status === 0
        await pause(delay(failures, error), signal)
      }
    }
  }

  async get(path, query, options) { return (await this.request("GET", path, { ...options, query })).body }
  async post(path, json, options) { return (await this.request("POST", path, { ...options, json })).body }
  async put(path, json, options) { return (await this.request("PUT", path, { ...options, json })).body }
  async patch(path, json, options) { return (await this.request("PATCH", path, { ...options, json })).body }
  async delete(path, options) { return (await this.request("DELETE", path, options)).body }

  async #exchange(method, path, options) {
    const deadline = deadlineOf(options.signal, options.timeout ?? (options.body ? 0 : answerTimeout))
    try {
      const response = await this.#open(method, path, options, deadline)
      return { status: response.status, headers: response.headers, body: method === "HEAD" ? null : await contentOf(response) }
    } catch (error) {
      throw deadline.explain(error)
    } finally {
      deadline.end()
    }
  }

  /** Sends a request with the credential, once more with a new one after a 401; returns the response, or throws its problem. */
  async #open(method, path, { query, json, body, headers, key, isOpen = false }, deadline) {
    if (!/^\/(?!\/)/.test(path)) throw new Error(`A path begins with one slash, unlike ${path}`)
    // The URL parser takes these segments away, with the one before: an id could name another resource.
    if (/\/(\.|%2e){1,2}(?![^/?#])/i.test(path.split(/[?#]/)[0])) throw new Error(`A path has no segments of dots, unlike ${path}`)
    const text = textOf(query)
    const address = this.url + path + (text && (path.includes("?") ? "&" : "?") + text)
    for (let isLast = isOpen; ; isLast = true) {
      const token = isOpen ? null : await this.#credential()
      const fields = new Headers({ Accept: "application/json" })
      if (json !== undefined) fields.set("Content-Type", "application/json")
      if (token) fields.set("Authorization", `Bearer ${token}`)
      if (key) fields.set("Idempotency-Key", `"${key}"`)
      for (const more of [this.headers, headers]) new Headers(more ?? {}).forEach((value, name) => fields.set(name, value))
      const content = json === undefined ? body : JSON.stringify(json)
      const response = await this.#fetch(address, { method, headers: fields, body: content, credentials: this.credentials, signal: deadline.signal })
      if (response.ok) return response
      const problem = Problem.of(response, await response.text())
      if (response.status !== 401 || isLast || !(await this.#renewed(token, problem))) throw problem
    }
  }

  /** All items of a list, over all pages: `for await (const post of client.list("/v1/posts"))`. With `search` the query is sent as JSON. */
  list(path, query = {}, { signal, search = false } = {}) {
    const read = cursor => {
      if (search) return this.post(path, cursor ? { ...query, cursor } : query, { signal, isSafe: true })
      const parameters = new URLSearchParams(textOf(query))
      if (cursor) parameters.set("cursor", cursor)
      return this.get(path, parameters, { signal })
    }
    // No generator: that would end with the first page that fails, and here it is read again by the next call.
    const pages = () => {
      let cursor = null, isWhole = false
      return {
        [Symbol.asyncIterator]() { return this },
        async next() {
          if (isWhole) return { value: undefined, done: true }
          const { items, next = null, included = null } = await read(cursor)
          cursor = next
          isWhole = !next
          return { value: { items, next, included }, done: false }
        },
      }
    }
    return { pages, async *[Symbol.asyncIterator]() { for await (const page of pages()) yield* page.items } }
  }

  // MARK: Sessions

  /** The session of an account: `user`, `token`, `refresh_token`, `expires_at`. An app may set one that it has stored. */
  get session() { return this.#session }

  set session(session) {
    this.#session = session
    // A minute before the expiry, but not at once: the clock of a phone may be wrong, and a 401 renews the session as well.
    const rest = session?.refresh_token ? Date.parse(session.expires_at) - Date.now() - 60_000 : Infinity
    this.#renewAt = Date.now() + Math.max(300_000, rest)
    this.onsession?.(session)
  }

  /** Signs in with an account: `user_name` or `email`, `password`, and optionally `device`, as the user calls it. */
  async signIn({ user_name, email, password, device }) {
    this.session = await this.post("/v1/sessions", { user_name, email, password, device, refresh: true }, { isOpen: true })
    return this.session
  }

  /** Ends the session, also here if the service cannot be reached. */
  async signOut() {
    await this.#renewal?.catch(() => {})
    if (!this.session) return
    await this.delete("/v1/tokens/current", { retries: 1 }).finally(() => { this.session = null })
  }

  /** Renews the session. A refresh token works once, so all who ask at the same time get the same renewal. */
  refresh() {
    this.#renewal ??= this.#renew().finally(() => { this.#renewal = null })
    return this.#renewal
  }

  async #renew() {
    const former = this.session?.refresh_token
    if (!former) throw new Error("There is no session to renew.")
    try {
      // It is safe to repeat: within 30 seconds the service returns the same tokens.
      const next = await this.post("/v1/sessions/refresh", { refresh_token: former }, { isOpen: true, isSafe: true, timeout: 10 })
      if (this.session?.refresh_token === former) this.session = next
    } catch (error) {
      if (error.status === 401 && this.session?.refresh_token === former) this.session = null
      throw error
    }
  }

  async #credential() {
    if (Date.now() >= this.#renewAt) await this.refresh()
    if (this.session) return this.session.token
    return typeof this.token === "function" ? this.token() : this.token
  }

  /** Whether there is another credential than the one that the service has refused. */
  async #renewed(refused, problem) {
    if (this.session?.refresh_token) {
      if (this.session.token === refused) await this.refresh()
      return this.session !== null
    }
    if (!this.renew) return typeof this.token === "function" && await this.token() !== refused
    const token = await this.renew(problem)
    if (typeof token === "string") this.token = token
    return Boolean(token)
  }

  // MARK: Media

  /** Sends a file in parts; a submission names it by its id. See `Upload`. */
  upload(blob, options) { return new Upload(this, blob, options) }
  /** Uploads both clips of a moment and submits them. `fields` are fields of a post. See `Submission`. */
  submitMoment({ front, back, fields, ...options }) {
    return new Submission(this, [["front", front], ["back", back]], { kind: "take5", ...fields }, options)
  }
  /** Uploads up to ten photos and submits them as one post. */
  submitPhotos({ photos, fields, ...options }) {
    return new Submission(this, Array.from(photos, photo => ["photo", photo]), { kind: "photo", ...fields }, options)
  }

  /** Waits until a post has something to see (`look`), or until it is processed (`ready`, which need not be its status then); returns it. */
  async wait(postID, { for: goal = "ready", signal } = {}) {
    for (;;) {
      const start = Date.now()
      const post = await this.get(`/v1/posts/${encodeURIComponent(postID)}`, { wait: 50, for: goal }, { signal, retries: 20 })
      const showsMedia = Object.keys(post.assets ?? {}).length > 0 || post.photos?.length > 0
      if (post.status !== "processing" || goal === "look" && showsMedia) return post
      if (Date.now() - start < 1000) await pause(1, signal)
    }
  }

  // MARK: Events

  /** The events of the acting user, or with an API key of all users: `{id, event, data}` with parsed JSON. The stream reconnects by itself and
   *  continues after its last event; `onstate` gets `connecting`, `open`, `waiting` and `closed`. It ends quietly with the signal, and with a
   *  Problem if the service refuses it for good (such as 401, 403, 404). */
  async *events({ path = "/v1/events", lastEventID = null, signal, onstate } = {}) {
    let parser = new EventParser(lastEventID)
    try {
      for (let failures = 1; !signal?.aborted; failures++) {
        onstate?.("connecting")
        const deadline = deadlineOf(signal, streamTimeout)
        let failure = null
        try {
          const headers = { Accept: "text/event-stream", ...(parser.id ? { "Last-Event-ID": parser.id } : {}) }
          const response = await this.#open("GET", path, { headers }, deadline)
          if (response.status === 204) return
          onstate?.("open")
          const [reader, decoder] = [response.body.getReader(), new TextDecoder()]
          for (let chunk; !(chunk = await reader.read()).done; failures = 0) {
            deadline.restart()
            yield* parser.push(decoder.decode(chunk.value, { stream: true }))
          }
        } catch (error) {
          if (signal?.aborted) return
          failure = deadline.explain(error)
          const { status } = failure
          if (!(failure instanceof Problem) || status >= 400 && status < 500 && ![408, 429].includes(status)) throw failure
        } finally {
          deadline.end(true)
        }
        parser = new EventParser(parser.id)
        onstate?.("waiting")
        await pause(delay(Math.max(1, failures), failure), signal).catch(() => {})
      }
    } finally {
      onstate?.("closed")
    }
  }

  /** The changes of one job: events `progress`, and `end`, which is the last one. */
  async *jobEvents(jobID, options) {
    for await (const event of this.events({ ...options, path: `/v1/jobs/${encodeURIComponent(jobID)}/events` })) {
      yield event
      if (event.event === "end") return
    }
  }
}

/** Calls `end` when a signal is aborted before `promise` has an end: a signal that lives on keeps nothing of an ended call. */
function follow(signal, promise, end) {
  signal?.addEventListener("abort", end, { once: true })
  const leave = () => signal?.removeEventListener("abort", end)
  promise.then(leave, leave)
  if (signal?.aborted) end()
}

/** Parses server-sent events (WHATWG HTML, section 9.2.6). */
class EventParser {
  rest = ""
  data = []
  event = "message"
  /** `id` names the last whole event: a connection may break behind the line of an id. */
  constructor(id) { this.id = this.nextID = id }

  *push(text) {
    // A carriage return at the end may be the first half of the end of a line.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/)
    this.rest = lines.pop()
    for (const line of lines) {
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line)
      if (name === "data") this.data.push(value)
      else if (name === "event") this.event = value || "message"
      else if (name === "id" && !value.includes("\0")) this.nextID = value
      if (line !== "") continue
      const { nextID: id, event, data } = this
      Object.assign(this, { id, data: [], event: "message" })
      if (data.length) yield { id, event, data: parsed(data.join("\n")) }
    }
  }
}

/** A file that is sent in parts (the IETF draft of resumable uploads). `promise` gives its URL; `offset` of `length` bytes are stored; `state` is
 *  `uploading`, `waiting` (for the network or a busy service), `paused`, `done`, `failed` or `cancelled`. `onprogress(upload)` is called with each
 *  change. With a `store` of texts ({get, set, delete}) the same file continues after a reload; `name` distinguishes the uses of a file.
 *
 *  The parts go by fetch, which pages, workers and Node have. XMLHttpRequest would report progress within a part, but of bytes that the system has
 *  buffered; here each part takes about a second by its size, and what counts is on the disk of the service. */
export class Upload {
  offset = 0
  state = "uploading"
  id = null
  #client
  #blob
  #options
  #store
  #stop = new AbortController()
  #resumed = null
  #go = null
  #part = 8 * minPart
  #isKnown = false
  #restarts = 0

  constructor(client, blob, options = {}) {
    [this.#client, this.#blob, this.#options, this.length] = [client, blob, options, blob.size]
    // Only a file can be recognized. A store that fails costs a second upload at most.
    const entry = ["take5 upload", client.url, options.name, blob.name, blob.size, blob.lastModified].join(" ")
    this.#store = async (method, ...text) => {
      try { return blob.lastModified ? await options.store?.[method](entry, ...text) : null } catch { return null }
    }
    this.promise = this.#run()
    follow(options.signal, this.promise, () => this.cancel())
  }

  get url() { return this.id && `${this.#client.url}/v1/uploads/${this.id}` }
  /** The stored share of it, from 0 to 1. */
  get fraction() { return this.state === "done" ? 1 : this.offset / Math.max(1, this.length) }

  /** Stops sending; the service keeps the bytes that have arrived for an hour. */
  pause() {
    if (!["uploading", "waiting"].includes(this.state)) return
    this.#resumed = new Promise(resolve => { this.#go = resolve })
    this.#enter("paused")
    this.#stop.abort()
  }

  /** Continues; one that waits tries at once. */
  resume() {
    if (this.state === "waiting") this.#stop.abort()
    if (this.state !== "paused") return
    this.#enter("uploading")
    this.#go()
  }

  /** Ends it, and removes it from the service, unless it is kept for another try. */
  cancel(isKept = false) {
    if (!isKept) this.#remove()
    if (["failed", "cancelled"].includes(this.state)) return
    this.#enter("cancelled")
    this.#stop.abort()
    this.#go?.()
  }

  /** Removes it from the store, once a submission has used it. */
  forget() { return this.#store("delete") }
  #restart() { [this.id, this.offset] = [null, 0] }

  #enter(state) {
    if (this.state !== "cancelled") this.state = state
    this.#options.onprogress?.(this)
  }

  #remove() {
    this.forget()
    if (this.id) this.#client.request("DELETE", `/v1/uploads/${this.id}`, { retries: 1 }).catch(() => {})
  }

  async #run() {
    await this.#options.after
    this.id = await this.#store("get") || null
    for (let failures = 0; this.state !== "done";) {
      await this.#resumed
      if (this.state === "cancelled") throw new DOMException("The upload was cancelled.", "AbortError")
      this.#stop = new AbortController()
      const before = this.offset
      try {
        await this.#step()
        if (this.offset > before) failures = 0
      } catch (error) {
        this.#isKnown = false
        // Paused, resumed or cancelled: the state says what follows.
        if (!this.#stop.signal.aborted) await this.#recover(error, failures += 1)
      }
    }
    return this.url
  }

  /** Creates the upload, asks how much of it has arrived, or sends the next part. */
  async #step() {
    if (this.state === "waiting") this.#enter("uploading")
    const request = async (method, headers, body) => (await this.#client.request(method, this.id ? `/v1/uploads/${this.id}` : "/v1/uploads",
      { headers, body, signal: this.#stop.signal, retries: 0, timeout: 60 })).headers
    if (!this.id) {
      const headers = await request("POST", { "Upload-Complete": "?0", "Upload-Length": this.length })
      this.id = headers.get("Location").split("/").pop()
      this.#isKnown = true
      return this.#store("set", this.id)
    }
    if (!this.#isKnown) {
      const headers = await request("HEAD")
      if (Number(headers.get("Upload-Length") ?? this.length) !== this.length) return this.#restart()
      this.offset = Number(headers.get("Upload-Offset"))
      this.#isKnown = true
      // One that was refused counts as complete: the next part then gets the reason.
      return this.#enter(this.offset === this.length && headers.get("Upload-Complete") === "?1" ? "done" : this.state)
    }
    const [start, end] = [Date.now(), Math.min(this.offset + this.#part, this.length)]
    const headers = await request("PATCH", { "Content-Type": "application/partial-upload", "Upload-Offset": this.offset,
      "Upload-Complete": end === this.length ? "?1" : "?0" }, this.#blob.slice(this.offset, end))
    this.offset = Number(headers.get("Upload-Offset") ?? end)
    const factor = Math.min(4, Math.max(0.25, 1000 / (Date.now() - start + 1)))
    this.#part = Math.round(Math.min(maxPart, Math.max(minPart, this.#part * factor)))
    this.#enter(end === this.length && headers.get("Upload-Complete") !== "?0" ? "done" : this.state)
  }

  /** Does what a failure of a step asks for: another upload, a pause, or the end. An outage alone never ends an upload. */
  async #recover(error, failures) {
    const { status, code, retryAfter } = error
    if ([404, 410].includes(status) && this.id && (this.#restarts += 1) <= 3) return this.#restart()
    if (code === "upload_offset" && failures <= 8) return
    this.#part = Math.max(minPart, Math.round(this.#part / 2))
    const isOutage = [0, 502, 504].includes(status)
    const mayPass = isPassing(error) || status >= 500 && status !== 507 && !(retryAfter > maxWait)
    if (!isOutage && (!mayPass || failures > 8)) return this.#fail(error)
    // Browsers report a file that has changed like a broken network.
    const isReadable = await this.#blob.slice(this.offset, this.offset + 1).arrayBuffer().then(() => true, () => false)
    if (!isReadable) return this.#fail(new Problem({ type: "urn:take5:problem:file_unreadable", title: "The file cannot be read",
      detail: "It has changed or moved since it was chosen.", remedy: "Choose it again." }))
    if (this.#stop.signal.aborted) return
    this.#enter("waiting")
    await pause(delay(failures, error), this.#stop.signal).catch(() => {})
  }

  #fail(error) {
    // After another sign-in, or later, the others may continue.
    if ([400, 409, 413, 415, 422].includes(error.status)) this.#remove()
    this.#enter("failed")
    throw error
  }
}

/** Uploads with the submission that names them. `promise` gives the post; `key` is the Idempotency-Key of all its attempts; `uploads` are in the
 *  order of the parts. `onprogress(submission)` is called with each change; `state` is an upload's, or `submitting`.
 *
 *  An attempt whose response is lost may have arrived, and has used its uploads up. With a `store`, another submission with the same key, files
 *  and fields first sends the same JSON again, and gets the same post; it uploads only if the service does not know these uploads. */
export class Submission {
  uploads = []
  #stop = new AbortController()
  #end = null
  #store

  constructor(client, parts, draft, { onprogress, signal, key = newKey(), store } = {}) {
    if (parts.some(([, blob]) => !(blob instanceof Blob))) throw new TypeError("Each part of a submission is a file or a Blob.")
    this.key = key
    const entry = ["take5 submission", client.url, key].join(" ")
    this.#store = async (method, ...text) => {
      try { return await store?.[method](entry, ...text) } catch { return null }
    }
    const again = this.#repeat(client, parts, draft)
    // Three at a time: a browser has six connections to a service.
    parts.forEach(([name, blob], index) => this.uploads.push(client.upload(blob, { store, name: `${name} ${index}`,
      onprogress: () => onprogress?.(this), after: this.uploads[index - 3]?.promise.catch(() => {}) ?? again.catch(() => {}) })))
    this.promise = this.#run(client, parts, draft, { onprogress, store, again })
    follow(signal, this.promise, () => this.cancel())
  }

  get offset() { return this.uploads.reduce((sum, upload) => sum + upload.offset, 0) }
  get length() { return this.uploads.reduce((sum, upload) => sum + upload.length, 0) }
  get fraction() { return this.offset / Math.max(1, this.length) }
  get state() {
    const ofUpload = ["paused", "uploading", "waiting"].find(state => this.uploads.some(upload => upload.state === state))
    return this.#end ?? ofUpload ?? "submitting"
  }

  pause() { this.uploads.forEach(upload => upload.pause()) }
  resume() { this.uploads.forEach(upload => upload.resume()) }

  /** Ends it. One that is being submitted may have arrived already. */
  cancel() {
    if (this.#end) return
    this.#end = "cancelled"
    this.#store("delete")
    this.uploads.forEach(upload => upload.cancel())
    this.#stop.abort()
  }

  /** Sends what an attempt before has sent; returns the post, or null if there was none or its uploads are gone. */
  async #repeat(client, parts, draft) {
    const ids = await this.#store("get")
    if (!ids) return null
    try {
      const post = await this.#submit(client, parts, draft, ids.split(" "))
      this.uploads.forEach(upload => Object.assign(upload, { state: "done", offset: upload.length }))
      return post
    } catch (error) {
      if (error.code === "upload_not_found") return null
      // The uploads have waited for this, and end with it.
      this.#end ??= "failed"
      this.uploads.forEach(upload => upload.cancel(true))
      throw error
    }
  }

  async #submit(client, parts, draft, ids) {
    const json = { ...draft }
    parts.forEach(([name], index) => {
      const file = { upload: ids[index] }
      json[name] = name === "photo" ? [...json.photo ?? [], file] : file
    })
    return (await client.request("POST", "/v1/posts", { json, key: this.key, signal: this.#stop.signal })).body
  }

  async #run(client, parts, draft, { onprogress, store, again }) {
    try {
      let post = await again
      if (!post) {
        await Promise.all(this.uploads.map((upload, index) => upload.promise.catch(error => {
          throw error instanceof Problem ? Object.assign(error, { input: parts[index][0] }) : error
        })))
        onprogress?.(this)
        const ids = this.uploads.map(upload => upload.id)
        await this.#store("set", ids.join(" "))
        post = await this.#submit(client, parts, draft, ids)
      }
      this.#end = "done"
      this.#store("delete")
      this.uploads.forEach(upload => upload.forget())
      return post
    } catch (error) {
      this.#end ??= "failed"
      // The service keeps the bytes if the store finds them again, or if the submission may have arrived too.
      this.uploads.filter(upload => upload.state !== "done" || error.status >= 400).forEach(upload => upload.cancel(Boolean(store)))
      throw error
    } finally {
      onprogress?.(this)
    }
  }
}

// MARK: Placeholders

/** Draws a ThumbHash (of an asset, in base64) as at most 32 x 32 pixels: `{width, height, rgba}`, for ImageData. */
export function pictureOfThumbhash(base64) {
  const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  const colors = bytes[0] | bytes[1] << 8 | bytes[2] << 16, shape = bytes[3] | bytes[4] << 8
  const hasAlpha = colors >> 23 === 1, isLandscape = shape >> 15 === 1
  const [long, short] = [hasAlpha ? 5 : 7, Math.max(1, shape & 7)]
  const [columns, rows] = isLandscape ? [long, short] : [short, long]

  // Each frequency has four bits, the low half of a byte first.
  let nibble = hasAlpha ? 12 : 10
  const channel = (mean, scale, columns, rows) => {
    const waves = []
    for (let row = 0; row < rows; row++) {
      for (let column = row ? 0 : 1; column * rows < columns * (rows - row); column++, nibble++) {
        const level = bytes[nibble >> 1] >> (nibble & 1) * 4 & 15
        waves.push({ column, row, size: (level / 7.5 - 1) * scale })
      }
    }
    return { mean, waves }
  }
  const light = channel((colors & 63) / 63, (colors >> 18 & 31) / 31, Math.max(3, columns), Math.max(3, rows))
  // A little more colour than was stored makes up for what the rounding takes.
  const yellowBlue = channel((colors >> 6 & 63) / 31.5 - 1, (shape >> 3 & 63) / 63 * 1.25, 3, 3)
  const redGreen = channel((colors >> 12 & 63) / 31.5 - 1, (shape >> 9 & 63) / 63 * 1.25, 3, 3)
  const alpha = hasAlpha ? channel((bytes[5] & 15) / 15, (bytes[5] >> 4) / 15, 5, 5) : { mean: 1, waves: [] }

  const ratio = columns / rows
  const [width, height] = [Math.round(32 * Math.min(1, ratio)), Math.round(32 * Math.min(1, 1 / ratio))]
  const cosines = size => Array.from({ length: size }, (_, at) =>
    Array.from({ length: 7 }, (_, frequency) => Math.cos(Math.PI / size * (at + 0.5) * frequency)))
  const [across, down] = [cosines(width), cosines(height)]
  const rgba = new Uint8ClampedArray(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    const at = ({ mean, waves }) => waves.reduce((sum, wave) => sum + 2 * wave.size * across[x][wave.column] * down[y][wave.row], mean)
    const [l, p, q] = [light, yellowBlue, redGreen].map(at)
    const blue = l - 2 / 3 * p
    const red = (3 * l - blue + q) / 2
    rgba.set([red, red - q, blue, at(alpha)].map(value => value * 255), pixel * 4)
  }
  return { width, height, rgba }
}
