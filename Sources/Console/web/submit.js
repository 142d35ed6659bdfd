// The view that submits: it takes two clips, photos or the media of a marker, and shows below what becomes of each submission of this page.

import { Submission } from "./submission.js"
import { action, bytes, field, h, icon, prefersStillness, remember, remembered, seconds, show, values } from "./ui.js"

// Submissions live as long as the page: a user who opens another view meanwhile finds them again. Submissions of another sign-in are not shown.
const made = { name: null, all: [] }

const kinds = { take5: "A moment", photo: "A photo post", marker: "A marker" }
const endings = { video: /\.(mov|mp4|m4v|3gp|3gpp)$/i, image: /\.(jpe?g|heic|heif|avif|png|webp)$/i }

export default async function (main, { app, signal }) {
  if (made.name !== app.session.name) Object.assign(made, { name: app.session.name, all: [] })
  const list = h("div", { class: "stack" })
  const draft = new Draft(app, signal, submission => {
    made.all.forEach(each => each.fold())
    made.all.unshift(submission)
    drawList()
    submission.run()
    submission.element.scrollIntoView({ block: "nearest", behavior: prefersStillness() ? "auto" : "smooth" })
  })
  const drawList = () => show(list, h("h2", { class: "submit-heading" }, "Submissions of this page"),
    made.all.length ? made.all.map(each => each.element) : h("p", { class: "empty" }, "There are none yet. They stay here while this page is open."))
  made.remove = submission => { made.all = made.all.filter(each => each !== submission); drawList() }
  drawList()
  const missing = ["submit", "read"].filter(scope => !app.session.can(scope)).map(scope => `‘${scope}’`).join(" and ")
  show(main, h("h1", {}, "Submit"), missing && h("p", { class: "problem" }, icon("warning"),
    h("span", {}, `A submission needs the scopes ‘submit’ and ‘read’. This sign-in lacks ${missing}.`)),
    draft.element, list)
}

addEventListener("beforeunload", event => { if (made.all.some(each => each.isSending)) event.preventDefault() })

/** What the files of a draft can become, and what is to be done if it is nothing. */
function possible(items) {
  const videos = items.filter(each => each.medium === "video").length
  const images = items.length - videos
  if (!items.length) return { kinds: [], says: "Two clips make a moment, one to ten photos a photo post. A marker has one clip or one photo." }
  if (videos && images) return { kinds: [], says: "Clips and photos do not go together. Remove one or the other." }
  if (videos > 2) return { kinds: [], says: "A moment has two clips. Remove the others." }
  if (videos === 2) return { kinds: ["take5"], says: "Both clips of one moment." }
  if (videos === 1) return { kinds: ["marker"], says: "One clip makes a marker. For a moment, add the clip of the other camera." }
  if (images > 10) return { kinds: [], says: `A photo post has at most ten photos. Remove ${images - 10}.` }
  return images === 1 ? { kinds: ["photo", "marker"], says: "One photo." } : { kinds: ["photo"], says: `${images} photos, in this order.` }
}

/** A file is a clip or a photo by its type or its ending; the service judges it by its content. */
function mediumOf(file) {
  if (file.type.startsWith("image/") || endings.image.test(file.name)) return "image"
  return "video"
}

/** `52.5163, 13.3777` as a location; null if it is none. */
function locationOf(text) {
  const found = /^\s*([+-]?\d+(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)\s*$/.exec(text)
  const [latitude, longitude] = found ? [+found[1], +found[2]] : [NaN, NaN]
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null
}

/** The form: files with their previews, and the fields. */
class Draft {
  items = []
  #kind = null

  constructor(app, signal, onsubmit) {
    Object.assign(this, { app, onsubmit })
    this.input = h("input", { type: "file", multiple: true, class: "unseen", accept: "video/*,image/*,.mov,.mp4,.m4v,.3gp,.heic,.heif,.avif",
      "aria-describedby": "drop-help", onchange: () => { this.add(this.input.files); this.input.value = "" } })
    this.zone = h("label", { class: "drop" }, this.input, h("span", { class: "drop-icon" }, icon("submit")),
      h("strong", {}, "Drop files here, or choose them"),
      h("span", { class: "quiet", id: "drop-help" }, "Clips: MOV, MP4, 3GP. Photos: JPEG, HEIC, AVIF, PNG, WebP."))
    this.previews = h("ul", { class: "previews", "aria-label": "Files" })
    this.says = h("p", { class: "submit-says", role: "status" })
    this.swapper = h("button", { type: "button", onclick: () => this.#move(0, 1) }, icon("swap"), "Swap front and back")
    this.choice = h("div", { class: "tabs", role: "group", "aria-label": "What it becomes" })
    this.form = this.#makeForm()
    this.element = h("section", { class: "card submit", "aria-label": "New submission" },
      h("div", { class: "submit-files" }, this.zone, this.says, this.previews, h("div", { class: "row" }, this.swapper, this.choice)), this.form)
    this.#acceptDrops(signal)
    signal.addEventListener("abort", () => this.items.forEach(each => URL.revokeObjectURL(each.url)))
    this.#draw()
  }

  #makeForm() {
    const help = "Latitude and longitude in degrees, such as 52.5163, 13.3777."
    const location = field({ label: "Location", name: "location", autocomplete: "off", help, oninput: ({ target }) =>
      target.setCustomValidity(!target.value.trim() || locationOf(target.value) ? "" : help) })
    this.foreground = field({ label: "In the foreground", name: "foreground", options: [["front", "The front camera"], ["back", "The back camera"]],
      help: "It lies in the inset, and gives the sound.", onchange: () => this.#draw() })
    this.author = field({ label: "Author", name: "author", required: true, maxlength: 200, value: remembered("submit-author"), autocomplete: "off",
      help: "The id that the app has for the user." })
    return h("form", { class: "submit-fields", novalidate: true, onsubmit: event => event.preventDefault() },
      this.author,
      field({ label: "Caption", name: "caption", type: "textarea", maxlength: 5000 }),
      field({ label: "Title", name: "title", maxlength: 200, autocomplete: "off" }),
      field({ label: "Alternative text", name: "alternative_text", maxlength: 1500, autocomplete: "off",
        help: "What the media show, for who cannot see them." }),
      field({ label: "Visible to", name: "visibility", options: [["public", "All"], ["friends", "Friends"], ["private", "The author"]] }),
      this.foreground,
      location,
      h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => this.#clear() }, "Clear"),
        action(this.app, { label: "Submit", icon: "submit", class: "primary", scopes: ["submit", "read"], run: async () => this.submit() })))
  }

  /** Takes files from the picker, a drop or the clipboard. */
  add(files) {
    for (const file of files) this.items.push(this.#item(file))
    // A name may say which camera it is.
    if (this.items.length === 2 && (/back|rear/i.test(this.items[0].file.name) || /front|selfie/i.test(this.items[1].file.name))
      && possible(this.items).kinds[0] === "take5") this.items.reverse()
    this.#draw()
  }

  submit() {
    const { kinds: [first], says } = possible(this.items)
    if (!first) {
      this.input.focus()
      throw new Error(this.items.length ? says : "Choose the files first.")
    }
    if (!this.form.reportValidity()) return
    const { location, foreground, ...texts } = values(this.form)
    const fields = { kind: this.#kind, ...texts }
    if (location?.trim()) fields.location = locationOf(location)
    if (this.#kind === "take5") fields.foreground = foreground
    remember("submit-author", fields.author)
    const items = this.items
    this.items = []
    this.#reset()
    this.onsubmit(new Submission(this.app, { fields, items, onremove: submission => made.remove(submission) }))
  }

  #item(file) {
    const item = { file, medium: mediumOf(file), url: URL.createObjectURL(file) }
    item.says = h("small", {})
    item.role = h("strong", {})
    item.buttons = h("div", { class: "row" })
    const facts = (...parts) => { item.says.textContent = [bytes(file.size), ...parts.filter(Boolean)].join(" · ") }
    facts()
    const words = `Preview of ${file.name}`
    item.preview = item.medium === "video"
      ? h("video", { muted: true, loop: true, autoplay: !prefersStillness(), playsinline: true, tabindex: "-1", "aria-label": words, src: item.url,
        onloadedmetadata: ({ target: { duration, videoWidth: width, videoHeight: height } }) =>
          facts(Number.isFinite(duration) && seconds(duration), width > 0 && `${width} × ${height}`) })
      : h("img", { alt: words, src: item.url, onload: ({ target }) => facts(`${target.naturalWidth} × ${target.naturalHeight}`) })
    item.preview.addEventListener("error", () => {
      // An element without its file reports an error as well.
      if (!item.preview.isConnected) return
      const none = h("div", { class: "preview-none" }, icon("film"), "This browser cannot show it.")
      item.preview.replaceWith(none)
      item.preview = none
    }, { once: true })
    item.element = h("li", { class: "preview" }, item.preview,
      h("div", { class: "preview-words" }, item.role, h("span", { class: "preview-name" }, file.name), item.says), item.buttons)
    return item
  }

  #draw() {
    const { kinds: choices, says } = possible(this.items)
    if (!choices.includes(this.#kind)) this.#kind = choices[0] ?? null
    const isMoment = this.#kind === "take5"
    this.says.textContent = says
    this.says.classList.toggle("bad", this.items.length > 0 && !choices.length)
    this.swapper.hidden = !isMoment
    this.foreground.hidden = !isMoment
    this.previews.hidden = !this.items.length
    this.zone.classList.toggle("is-small", this.items.length > 0)
    const top = this.form.elements.foreground.value
    const isOrdered = this.#kind === "photo" && this.items.length > 1
    this.items.forEach((item, index) => {
      item.name = isMoment ? ["front", "back"][index] : item.medium === "video" ? "video" : this.#kind === "marker" ? "image" : "photo"
      item.role.textContent = isMoment ? (item.name === "front" ? "Front" : "Back") + (item.name === top ? " · in the inset" : "")
        : isOrdered ? `Photo ${index + 1}` : item.medium === "video" ? "Clip" : "Photo"
      const button = (name, label, body) =>
        h("button", { type: "button", class: "icon-button", "aria-label": `${label} ${item.file.name}`, onclick: body }, icon(name))
      show(item.buttons, isOrdered && index > 0 && button("back", "Earlier:", () => this.#move(index, index - 1)),
        isOrdered && index < this.items.length - 1 && button("next", "Later:", () => this.#move(index, index + 1)),
        button("close", "Remove", () => this.#remove(item)))
    })
    this.#drawPreviews()
    show(this.choice, choices.length > 1 && choices.map(kind => h("button", { type: "button", "aria-pressed": `${kind === this.#kind}`,
      onclick: () => { this.#kind = kind; this.#draw() } }, kinds[kind])))
  }

  #drawPreviews() {
    const elements = this.items.map(each => each.element)
    // A video stops when it is moved: what stays in its order is left where it is.
    if (elements.length === this.previews.children.length && elements.every((each, index) => each === this.previews.children[index])) return
    show(this.previews, elements)
    if (!prefersStillness()) this.items.forEach(each => each.preview.play?.().catch(() => {}))
  }

  #move(from, to) {
    const [item] = this.items.splice(from, 1)
    this.items.splice(to, 0, item)
    this.#draw()
  }

  #remove(item) {
    URL.revokeObjectURL(item.url)
    this.items = this.items.filter(each => each !== item)
    this.#draw()
    this.input.focus()
  }

  #clear() {
    this.items.forEach(each => URL.revokeObjectURL(each.url))
    this.items = []
    this.#reset()
  }

  /** Keeps who submits and for whom. */
  #reset() {
    for (const name of ["caption", "title", "alternative_text", "location"]) this.form.elements[name].value = ""
    this.form.elements.location.setCustomValidity("")
    this.#draw()
  }

  #acceptDrops(signal) {
    const hasFiles = event => [...event.dataTransfer?.types ?? []].includes("Files")
    // A drop beside the zone counts too: a browser would otherwise leave the page for the file.
    addEventListener("dragover", event => {
      if (!hasFiles(event)) return
      event.preventDefault()
      this.zone.classList.add("is-over")
    }, { signal })
    addEventListener("dragleave", event => event.relatedTarget === null && this.zone.classList.remove("is-over"), { signal })
    addEventListener("drop", event => {
      if (!hasFiles(event)) return
      event.preventDefault()
      this.zone.classList.remove("is-over")
      this.add(event.dataTransfer.files)
    }, { signal })
    addEventListener("paste", event => { if (event.clipboardData?.files.length) this.add(event.clipboardData.files) }, { signal })
  }
}

