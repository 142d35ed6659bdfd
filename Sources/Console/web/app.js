// The console: signs in, shows the view that the fragment of the address names, and says when the service does not answer.

import { Take5 } from "/client.js"
import { failure, field, h, icon, problem, remember, remembered, show, toast, values, zone } from "./ui.js"

// A view is a module of its own, which is loaded when it is first shown.
const views = [
  { name: "now", title: "Now" }, { name: "submit", title: "Submit" }, { name: "moments", title: "Moments" }, { name: "jobs", title: "Jobs" },
  { name: "store", title: "Store" }, { name: "people", title: "People" },
]

// Without a heading in the menu: they are reached from a record.
const inner = [{ name: "post", title: "Post", under: "moments" }, { name: "job", title: "Job", under: "jobs" }, { name: "user", title: "User", under: "people" },
  { name: "case", title: "Case", under: "people" }, { name: "webhook", title: "Webhook", under: "people" }, { name: "run", title: "Run", under: "store" }]

class Session {
  constructor(facts) { Object.assign(this, facts) }
  /** Whether the signed-in credential has a scope. */
  can(scope) { return this.scopes.includes(scope) }
  /** Whether other facts are of the same credential. */
  isOf({ signed_in, credential, name }) { return signed_in === this.signed_in && credential === this.credential && name === this.name }
}

class App {
  api = new Take5({ retries: 1, headers: { "Take5-Console": "1" }, credentials: "same-origin", fetch: (...all) => this.#fetch(...all) })
  session = null
  #isLeaving = false
  #shown = null
  #failed = null
  #probing = null
  /** The number of open cases, in the menu. */
  #cases = h("span")
  /** The session whose cases were counted. */
  #counted = null

  /** Goes to a view: `app.go("jobs", { state: "dead" })`, `app.go("post/ID")`. */
  go(path, query = {}) { location.hash = this.address(path, query) }

  /** The address of a view, for a link. */
  address(path, query = {}) {
    const text = new URLSearchParams(Object.entries(query).flatMap(([name, value]) =>
      [value].flat().filter(each => each !== null && each !== undefined && each !== "").map(each => [name, each]))).toString()
    return `#/${path}${text ? `?${text}` : ""}`
  }

  /** Runs `body` at once and then each `seconds` while the page can be seen, until the signal; an outage does not end it. */
  every(seconds, signal, body) {
    let timer, isBusy = false
    const turn = async () => {
      clearTimeout(timer)
      if (signal.aborted || isBusy) return
      isBusy = true
      if (!document.hidden) {
        try { await body(); this.answered() } catch (error) { if (!signal.aborted) this.failed(error) }
      }
      isBusy = false
      if (!signal.aborted) timer = setTimeout(turn, this.isOut ? 1000 : seconds * 1000)
    }
    document.addEventListener("visibilitychange", () => document.hidden || turn(), { signal })
    signal.addEventListener("abort", () => clearTimeout(timer))
    turn()
  }

  /** Notes that the service answers, and repeats the reads that have failed meanwhile. */
  answered() {
    const wasOut = this.isOut
    document.querySelector("#outage").hidden = true
    this.isOut = false
    if (!wasOut) return
    toast("The service answers again.")
    document.querySelectorAll("#main .again").forEach(button => button.click())
  }

  /** Shows what a request of a view has met: an outage above the view, an ended session as the sign-in. */
  failed(error) {
    if (error.name === "AbortError") return
    if (error.status === 401) return this.signIn()
    const outage = document.querySelector("#outage")
    this.#failed = error.status
    this.isOut = !error.status || error.status >= 500
    show(outage, icon("warning"), error.status ? `${error.title ?? error.status}. ${error.detail ?? ""} ` : "The service does not answer. ",
      this.isOut && "The console tries again each second.")
    outage.hidden = false
    if (this.isOut) this.#probe()
  }

  /** Asks each second whether the service answers again: some views read only once. */
  #probe() {
    this.#probing ??= setTimeout(async () => {
      const response = this.isOut && await fetch("/readyz", { signal: AbortSignal.timeout(5000) }).catch(() => null)
      this.#probing = null
      // Any answer ends the silence; after an error it must say that the service is ready.
      if (response && (response.ok || !this.#failed)) this.answered()
      if (this.isOut) this.#probe()
    }, 1000)
  }

  async start() {
    addEventListener("hashchange", () => this.draw())
    this.theme(remembered("theme"))
    document.addEventListener("visibilitychange", () => document.hidden || this.#read().catch(() => {}))
    await this.open()
  }

  /** Sends a request of the page. What changes something is sent only while the cookie is of the credential that the page shows; the parts of
   *  an upload are nothing until a submission names them. */
  async #fetch(address, options) {
    const isRead = options.method === "GET" || options.method === "HEAD"
    if (this.session && !isRead && !/^\/(console\/session|v1\/uploads)\b/.test(address)) {
      const refusal = await this.#read(options.signal)
      if (refusal) return refusal
    }
    return fetch(address, options)
  }

  /** Reads whose cookie the browser has: another tab may have signed in with another key or signed out, and then the page begins again.
   *  Returns the response if the service does not say it. */
  async #read(signal) {
    const { session } = this
    if (!session?.signed_in) return null
    const response = await fetch("/console/session", { headers: this.api.headers, credentials: "same-origin", signal })
    if (!response.ok) return response
    if (session.isOf(await response.json()) || session !== this.session) return null
    location.reload()
    throw new DOMException("Another tab has changed the sign-in.", "AbortError")
  }

  /** Reads the session, and shows the view or the sign-in. A sign-out that was not answered is sent first. */
  async open() {
    try {
      if (this.#isLeaving) await this.api.delete("/console/session").catch(error => { if (error.status !== 401) throw error })
      this.#isLeaving = false
      this.session = new Session(await this.api.get("/console/session"))
    } catch (error) {
      this.failed(error)
      if (this.#isLeaving) this.#sayLeaving()
      return void setTimeout(() => this.open(), 1000)
    }
    this.answered()
    if (this.session.signed_in) this.draw()
    else this.signIn()
  }

  theme(name) {
    if (name) document.documentElement.dataset.theme = name
    else delete document.documentElement.dataset.theme
  }

  #menu(current) {
    const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark"
    show(document.querySelector("#top"), h("a", { class: "brand", href: "#/now", "aria-label": "take5, now" }, h("img", { src: "/console/icon.svg", alt: "", width: 24, height: 24 }), "take5"),
      this.session?.signed_in && h("span", { class: "who" }, this.session.name),
      this.session?.signed_in && h("small", { class: "zone", title: "The time zone of this browser, in which all times are" }, zone),
      h("button", { class: "icon-button", "aria-label": "Light or dark", onclick: () => {
        const name = isDark() ? "light" : "dark"
        remember("theme", name)
        this.theme(name)
      } }, icon("theme")),
      this.session?.credential === "key" || this.session?.credential === "operator"
        ? h("button", { class: "icon-button", "aria-label": "Sign out", onclick: () => this.signOut() }, icon("leave")) : null)
    show(document.querySelector("#views"), this.session?.signed_in && h("ul", {}, views.map(view =>
      h("li", {}, h("a", { href: `#/${view.name}`, "aria-current": view.name === current ? "page" : null }, icon(view.name), view.title),
        view.name === "people" && this.#cases))))
    // On a phone the menu is wider than the screen.
    const menu = document.querySelector("#views"), here = menu.querySelector("[aria-current]")
    if (here) menu.scrollLeft = here.offsetLeft + here.offsetWidth / 2 - menu.clientWidth / 2
  }

  /** Counts the open cases, for who may decide them; the menu does without the number if it cannot be read. */
  async #countCases() {
    const { session } = this
    if (!session.can("moderate")) return
    const page = await this.api.get("/v1/moderation/cases", { state: "open", limit: 100 }).catch(() => null)
    if (!page || session !== this.session) return
    const number = `${page.items.length}${page.next ? "+" : ""}`
    show(this.#cases, page.items.length > 0 && h("a", {
      class: "menu-number", href: "#/people?tab=cases", title: "Open cases", "aria-label": `${number} open ${number === "1" ? "case" : "cases"}`,
    }, number))
  }

  /** Shows the view that the fragment names. */
  async draw() {
    if (!this.session?.signed_in) return
    const [path, text] = location.hash.replace(/^#\/?/, "").split("?")
    const [name = "now", ...rest] = path.split("/").filter(Boolean)
    const view = [...views, ...inner].find(each => each.name === name) ?? views[0]
    this.#shown?.abort()
    const shown = this.#shown = new AbortController()
    const heading = view.under ?? view.name
    this.#menu(heading)
    if (this.#counted !== this.session || heading === "people") {
      this.#counted = this.session
      this.#countCases()
    }
    document.title = `${view.title} · take5`
    const main = document.querySelector("#main")
    main.className = `view-${view.name}`
    show(main, h("h1", {}, view.title), h("p", { class: "empty" }, "Loading…"))
    try {
      const module = await import(`./${view.name}.js`).catch(error => {
        if (!(error instanceof TypeError)) throw error
        throw Object.assign(error, { status: 0, title: "This view is not loaded yet", detail: "The service does not answer." })
      })
      if (shown.signal.aborted) return
      const id = rest.map(decodeURIComponent).join("/")
      // A path of the service with such a segment would name another resource.
      if (id === "." || id === "..") throw new Error("Nothing has this id.")
      await module.default(main, { app: this, id, query: new URLSearchParams(text), signal: shown.signal })
      if (!shown.signal.aborted && document.activeElement === document.body) main.focus({ preventScroll: true })
    } catch (error) {
      if (shown.signal.aborted) return
      if (error.status === 401) return this.signIn()
      show(main, h("h1", {}, view.title), failure(error, () => this.draw()))
      if (error.status === 0 || error.status >= 500) this.failed(error)
    }
  }

  /** Shows the form that takes a key. */
  signIn() {
    this.#shown?.abort()
    this.session = null
    show(this.#cases)
    this.#menu(null)
    document.title = "Sign in · take5"
    const said = h("div")
    const form = h("form", { class: "card sign-in", onsubmit: async event => {
      event.preventDefault()
      try {
        this.session = new Session(await this.api.post("/console/session", { key: values(form).key }))
        form.reset()
        this.draw()
      } catch (error) {
        show(said, problem(error))
      }
    } }, h("h1", {}, "Sign in"), h("p", {}, "With the operator’s key, or with an API key: the console does what its scopes permit."), said,
    field({ label: "Key", name: "key", type: "password", required: true, autocomplete: "current-password", help: "‘take5 keys create NAME --scopes admin,read’ prints one." }),
    h("button", { class: "primary" }, "Sign in"))
    const main = document.querySelector("#main")
    main.className = ""
    show(main, form)
    form.querySelector("input").focus()
  }

  async signOut() {
    this.#isLeaving = true
    this.#shown?.abort()
    this.session = null
    location.hash = ""
    await this.open()
  }

  /** Says that the cookie is still valid: only the service can remove it. */
  #sayLeaving() {
    const main = document.querySelector("#main")
    if (main.className === "leaving") return
    main.className = "leaving"
    this.#menu(null)
    document.title = "Not signed out yet · take5"
    show(main, h("div", { class: "card sign-in", role: "status" }, h("h1", {}, "Not signed out yet"),
      h("p", {}, "The service has not answered, so this browser is still signed in. The page asks again each second: keep it open until it has "
        + "the form to sign in.")))
  }
}

new App().start()
