// What the views of jobs, the store and people share: parts that load by themselves, tabs, questions with fields, people and pictures.

import { nameOf, pictures } from "./glance.js"
import { command, failure, h, problem, show, showDialog, time } from "./ui.js"

/** A part of a view that shows what `body` returns: first that it loads, and a problem with a button that tries again. `again` loads it once more,
 *  and leaves what is there until the new content is. */
export function part(app, signal, body) {
  const element = h("div", { class: "part" }, h("p", { class: "empty" }, "Loading…"))
  async function again() {
    try {
      const content = await body()
      if (!signal.aborted) show(element, content)
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return
      if (error.status === 401) return app.failed(error)
      show(element, failure(error, again))
    }
  }
  again()
  return { element, again }
}

/** What stands in the place of a part that the sign-in may not read; null: it may. */
export function lacking(app, scopes) {
  const missing = scopes.filter(scope => !app.session.can(scope))
  if (!missing.length) return null
  return h("p", { class: "empty" }, "This needs the ", missing.length === 1 ? "scope " : "scopes ",
    missing.map((scope, index) => [index > 0 && " and ", h("code", {}, scope)]), ", which this sign-in does not have.")
}

/** The parts of a view as links: `[name, title]`; the first has no name in the address. */
export function tabs(app, path, current, list) {
  return h("nav", { class: "tabs", "aria-label": "Parts of this view" }, list.map(([name, title]) => h("a", {
    class: "button tab", href: app.address(path, { tab: name }), "aria-current": name === current ? "page" : null,
  }, title)))
}

/** Asks with fields before something happens: their values once the person agrees, otherwise null. `permits(values)` says whether it
 *  may happen. The fields that `all` names have lists of values. */
export function ask({ title, text, content, action, isDangerous = false, all = [], permits = () => true }) {
  return new Promise(resolve => {
    const go = h("button", { value: "yes", class: isDangerous ? "danger" : "primary" }, action)
    const form = h("form", { method: "dialog" }, h("h2", { id: "ask-title" }, title), text && h("p", {}, text), content,
      h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"), go))
    const dialog = h("dialog", { "aria-labelledby": "ask-title" }, form)
    const read = () => {
      const data = new FormData(form)
      return { ...Object.fromEntries(data), ...Object.fromEntries(all.map(name => [name, data.getAll(name)])) }
    }
    const check = () => { go.disabled = !permits(read()) }
    form.addEventListener("input", check)
    check()
    showDialog(dialog, () => resolve(dialog.returnValue === "yes" ? read() : null))
  })
}

/** Shows a secret, which is shown only now. */
export function secretOnce(secret) {
  showDialog(h("dialog", { "aria-labelledby": "secret-title" }, h("form", { method: "dialog" }, h("h2", { id: "secret-title" }, "The secret"),
    h("p", {}, "Copy it to the back-end now: it is not shown again. Messages are verified by it."), command(secret),
    h("div", { class: "buttons" }, h("button", { class: "primary" }, "Done")))))
}

/** The address of a user's view. */
export const userAddress = (app, id) => app.address(`user/${encodeURIComponent(id)}`)

/** The image of a user, or the first letter of the name. `size`: the pixels of a side; `kind`: a class more. */
export function avatar(user, id, size, kind) {
  const images = user?.profile_image ?? user?.image ?? {}
  const image = (size > 48 ? images.avatar : null) ?? images["avatar.small"]
  const attributes = { class: kind ? `avatar ${kind}` : "avatar" }
  if (image) return h("img", { ...attributes, src: image.url, alt: "", width: size, height: size, loading: "lazy" })
  return h("span", { ...attributes, "aria-hidden": "true" }, [...nameOf(user, id)][0]?.toUpperCase())
}

/** A user as a link, with the image and the name where `user` has them. */
export function person(app, id, user) {
  return h("a", { class: "person", href: userAddress(app, id), title: id }, avatar(user, id, 28), h("span", { class: "cut" }, nameOf(user, id)))
}

/** A small picture of a post, an image, a place or a collection; without one a quiet field. */
export function picture(record, alternative = "") {
  const files = [record?.photos?.[0], record?.assets, record?.photo, record?.thumbnail, record?.profile_image].filter(Boolean)
  const file = files.flatMap(each => pictures.row.map(role => each[role]).filter(Boolean))[0]
  return file ? h("img", { class: "peek", src: file.url, alt: alternative, loading: "lazy" })
    : h("span", { class: "peek", "aria-hidden": "true" })
}

/** A field for a date and a time, which the address and the API have in UTC. */
export const localTime = text => {
  const date = new Date(text)
  return text && !isNaN(date) ? new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : ""
}

/** A date in the zone of the browser, as a field for a date has it. */
export const dayOf = date => localTime(date).slice(0, 10)

/** The time in UTC of such a field; nothing without one. */
export const utcTime = text => text ? new Date(text).toISOString() : undefined

/** Calls `body` once the person has paused for a moment. */
export function paused(milliseconds, signal, body) {
  let timer
  signal.addEventListener("abort", () => clearTimeout(timer))
  return (...values) => {
    clearTimeout(timer)
    timer = setTimeout(() => body(...values), milliseconds)
  }
}

/** Whether the service has refused a request, and not only failed to answer it. */
export const isRefusal = error => error.status >= 400 && error.status < 500 && error.status !== 401

/** Calls `body` now and then each `seconds`. What the service refuses is shown in `element`, an outage above the view. */
export function watch(app, seconds, signal, element, body) {
  app.every(seconds, signal, async () => {
    try {
      await body()
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (!signal.aborted) show(element, problem(error))
    }
  })
}

/** Puts elements into a list in their order. Elements that are in their place stay there, with the focus. */
export function arrange(list, elements) {
  const wanted = new Set(elements)
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove()
  let next = list.firstElementChild
  for (const element of elements) {
    if (element === next) next = next.nextElementSibling
    else list.insertBefore(element, next)
  }
}

/** The rows that a list which reads itself again keeps at most. */
export const maxRows = 500

/** A list whose first page is read again each `seconds`: new items come in above, changed ones are drawn again, and older pages, which a
 *  button adds, stay below until there are too many rows. `row(item)` draws an item; `ondraw(items)` gets the items of each page, `onread(items, next)` the items of the first. */
export function liveList(app, signal, { path, query = {}, seconds, row, ondraw, onread, empty = "There is nothing here." }) {
  const list = h("ul", { class: "rows" })
  const words = h("div", {}, h("p", { class: "empty" }, "Loading…"))
  const more = h("button", { class: "more", hidden: true, onclick: () => readMore() }, "More")
  const shown = new Map()
  let order = []
  let next = null
  // How many rows may stay below the first page: none before the button adds some.
  let most = 0
  const draw = items => {
    for (const item of items) {
      const text = JSON.stringify(item)
      if (shown.get(item.id)?.text !== text) shown.set(item.id, { text, element: row(item) })
    }
    const wanted = new Set(order)
    for (const id of shown.keys()) if (!wanted.has(id)) shown.delete(id)
    list.querySelectorAll("time").forEach(each => { each.textContent = time(each.getAttribute("datetime")).textContent })
    arrange(list, order.map(id => shown.get(id).element))
    show(words, order.length ? null : h("p", { class: "empty" }, empty))
    more.hidden = !next
    ondraw?.(items)
  }
  const get = cursor => app.api.get(path, { ...query, limit: 50, cursor }, { signal, retries: 0 })
  async function read() {
    const page = await get(null)
    if (signal.aborted) return
    const ids = page.items.map(item => item.id)
    const last = page.next ? order.indexOf(ids.at(-1)) : -1
    let below = last < 0 ? [] : order.slice(last + 1)
    if (ids.length + below.length > most) below = []
    if (!below.length) [next, most] = [page.next, 0]
    order = [...ids, ...below]
    draw(page.items)
    onread?.(page.items, page.next)
  }
  async function readMore() {
    more.disabled = true
    try {
      const page = await get(next)
      order = [...new Set([...order, ...page.items.map(item => item.id)])]
      next = page.next
      most = Math.max(maxRows, order.length + 50)
      draw(page.items)
    } catch (error) {
      if (!signal.aborted) app.failed(error)
    } finally {
      more.disabled = false
    }
  }
  watch(app, seconds, signal, words, read)
  return { element: h("div", {}, words, list, more), read }
}
