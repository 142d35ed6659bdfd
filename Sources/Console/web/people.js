// The people: the users, the cases of moderators and what they decided today, the webhooks, and the daily window.

import { caseRow, previews } from "./case.js"
import { audiences, nameOf, states } from "./glance.js"
import { avatar, isRefusal, lacking, liveList, paused, person, tabs, userAddress, watch } from "./parts.js"
import { schedule } from "./schedule.js"
import { badge, count, counted, failure, field, h, lasting, section, show, table, time } from "./ui.js"
import { webhooks } from "./webhook.js"

const parts = { "": users, cases, webhooks, window: schedule }

export default async function (main, { app, query, signal }) {
  const tab = query.get("tab") ?? ""
  const body = h("div", { class: "stack" })
  const list = [["", "Users"], ["cases", "Cases"], ["webhooks", "Webhooks"], ["window", "Daily window"]]
  show(main, h("h1", {}, "People"), tabs(app, "people", tab, list), body)
  const draw = parts[tab] ?? users
  draw(body, { app, query, signal })
}

// MARK: Users

function users(body, { app, query, signal }) {
  const missing = lacking(app, ["read"])
  if (missing) return show(body, missing)
  const found = h("div", { class: "part" })
  const words = h("p", { class: "quiet", role: "status" })
  let turn = null
  const search = async text => {
    turn?.abort()
    turn = new AbortController()
    const now = { signal: AbortSignal.any([signal, turn.signal]) }
    history.replaceState(null, "", app.address("people", { query: text }))
    words.textContent = "Searching…"
    try {
      const list = text ? await namedUsers(app, text, now) : await latestUsers(app, now)
      words.textContent = text ? `${counted(list.length, "user")} by this name` : list.length ? "They have posted most recently." : ""
      show(found, list.length ? h("ul", { class: "cards" }, list.map(user => userCard(app, user)))
        : h("p", { class: "empty" }, text ? "There is no user of this name." : "No user has posted yet."),
      text && !list.some(user => user.id === text) && h("p", {}, h("a", { href: userAddress(app, text) }, `Look at the id ‘${text}’`)))
    } catch (error) {
      if (now.signal.aborted) return
      words.textContent = ""
      if (!isRefusal(error)) app.failed(error)
      show(found, failure(error, () => search(text)))
    }
  }
  const later = paused(250, signal, search)
  const text = query.get("query") ?? ""
  show(body, h("form", { class: "card", role: "search", onsubmit: event => event.preventDefault() }, field({
    label: "Name, user name or id", name: "query", type: "search", value: text, autocomplete: "off", spellcheck: "false",
    oninput: event => later(event.target.value.trim()),
  })), words, found)
  search(text)
}

/** Users by the beginning of a name, and first the one with this id. */
async function namedUsers(app, text, options) {
  const [byID, byName] = await Promise.all([
    app.api.get("/v1/users", { id: text.slice(0, 200) }, options), app.api.get("/v1/users", { query: text.slice(0, 200), limit: 50 }, options),
  ])
  const own = byID.items.filter(user => user.id === text)
  return [...own, ...byName.items.filter(user => user.id !== text)]
}

/** The authors of the latest posts. */
async function latestUsers(app, options) {
  const { items } = await app.api.get("/v1/posts", { status: states, visibility: audiences, limit: 100 }, options)
  const ids = [...new Set(items.map(post => post.author))]
  if (!ids.length) return []
  const users = await app.api.get("/v1/users", { id: ids }, options)
  return ids.map(id => users.items.find(user => user.id === id)).filter(Boolean)
}

function userCard(app, user) {
  return h("li", {}, h("a", { class: "user-card", href: userAddress(app, user.id) }, avatar(user, user.id, 48, "big"),
    h("span", { class: "user-words" }, h("strong", { class: "cut" }, nameOf(user, user.id)),
      h("span", { class: "quiet cut" }, user.user_name ? `@${user.user_name} · ${user.id}` : user.id),
      h("small", {}, `${counted(user.counts.posts, "post")}, ${counted(user.counts.friends, "friend")}, here for `, lasting(user.created_at)))))
}

// MARK: Cases

function cases(body, { app, query, signal }) {
  const missing = lacking(app, ["moderate"])
  if (missing) return show(body, missing)
  const state = query.get("state") === "decided" ? "decided" : "open"
  const toggle = (name, title) => h("a", {
    class: "button small", href: app.address("people", { tab: "cases", state: name }), "aria-current": state === (name ?? "open") ? "page" : null,
  }, title)
  const words = h("p", { class: "quiet", role: "status" })
  const known = previews(app, signal)
  const list = liveList(app, signal, {
    path: "/v1/moderation/cases", query: { state }, seconds: 20, row: each => caseRow(app, each, known),
    empty: state === "open" ? "No case is open. New ones appear here by themselves." : "Nothing was decided yet.",
    ondraw: items => known.read(items),
    onread: (items, next) => {
      words.textContent = state === "open" && items.length ? `${count(items.length)}${next ? " and more" : ""} open, the newest first` : ""
    },
  })
  const today = h("div", {}, h("p", { class: "empty" }, "Loading…"))
  const live = h("span", { class: "badge", role: "status" }, "not live")
  show(body, h("div", { class: "columns" },
    h("section", { class: "card", "aria-label": "Cases" },
      h("div", { class: "row spread" }, h("div", { class: "row" }, toggle(null, "Open"), toggle("decided", "Decided")), live), words, list.element),
    section("Decided today", today)))
  watch(app, 20, signal, today, async () => {
    const day = await decidedToday(app, signal)
    if (!signal.aborted) show(today, dayOf(app, day))
  })
  follow(app, signal, live, list.read)
}

/** Reads the list again whenever a case is opened. */
async function follow(app, signal, live, read) {
  const say = state => {
    live.textContent = state === "open" ? "live" : "not live"
    live.className = `badge ${state === "open" ? "good" : ""}`
  }
  try {
    for await (const { event } of app.api.events({ path: "/v1/moderation/events", signal, onstate: say })) {
      if (event === "case_opened" || event === "reset") await read().catch(() => {})
    }
  } catch (error) {
    // The list is read again every 20 seconds without the stream.
    if (!signal.aborted) live.title = error.detail ?? error.message
  }
}

const pagesOfDay = 5

/** The decisions since midnight, the latest first. The list goes by when a case was opened, so the newest 500 are looked at. */
async function decidedToday(app, signal) {
  const midnight = new Date().setHours(0, 0, 0, 0)
  const all = []
  let number = 0, isWhole = true
  for await (const { items, next } of app.api.list("/v1/moderation/cases", { state: "decided", limit: 100 }, { signal }).pages()) {
    all.push(...items)
    number += 1
    isWhole = !next
    if (number === pagesOfDay) break
  }
  const decided = all.filter(each => new Date(each.decided_at) >= midnight)
  return { isWhole, decided: decided.toSorted((one, other) => new Date(other.decided_at) - new Date(one.decided_at)) }
}

const decider = name => name === null ? "a service without keys" : /^\d+$/.test(name) ? `key ${name}` : name

function dayOf(app, { decided, isWhole }) {
  if (!decided.length) return h("p", { class: "empty" }, "Nothing was decided today.")
  const people = [...new Set(decided.map(each => each.decided_by))]
  const number = (by, decision) => decided.filter(each => each.decided_by === by && each.decision === decision).length
  return [
    table({
      caption: "Decisions of today by who decided", rows: people, columns: [
        { title: "Who", cell: decider }, ...["approve", "hide", "suspend"].map(decision =>
          ({ title: decision, numeric: true, cell: by => count(number(by, decision)) })),
      ],
    }),
    h("ul", { class: "rows" }, decided.slice(0, 30).map(each => h("li", { class: "decision" }, h("a", { href: app.address(`case/${each.id}`) },
      badge(each.decision), ` ${["post", "comment", "user", "place", "image", "collection"].find(kind => each[kind] !== null)}`),
    each.author && [" of ", person(app, each.author)], h("small", {}, ` by ${decider(each.decided_by)}, `, time(each.decided_at)),
    each.note && h("p", { class: "quiet" }, each.note)))),
    !isWhole && h("p", { class: "quiet" }, "Of the 500 newest cases that are decided."),
  ]
}
