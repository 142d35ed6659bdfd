// One user: the profile, posts, friends, devices, sessions and the cases about the user; and suspending, exporting and deleting.

import { caseRow, previews } from "./case.js"
import { audiences, nameOf, states } from "./glance.js"
import { ask, avatar, lacking, part, person, picture } from "./parts.js"
import { action, badge, bytes, count, counted, exactly, facts, field, h, id as short, pages, section, show, table, time } from "./ui.js"

export default async function (main, { app, id, signal }) {
  const back = h("p", {}, h("a", { href: app.address("people") }, "All users"))
  const missing = lacking(app, ["read"])
  if (missing) return show(main, back, h("h1", {}, id), missing)
  const path = `/v1/users/${encodeURIComponent(id)}`
  const user = await app.api.get(path, {}, { signal })
  const view = { app, id, path, user, signal, state: h("span") }
  const judged = cases(view)
  show(main, back, head(view, judged.again), h("div", { class: "stack" }, h("div", { class: "grid" },
    section("Profile", profile(user)), section("Cases about the user", judged.element)),
  section("Posts", posts(view)), h("div", { class: "grid" },
    section("Friends", friends(view)), section("Devices", devices(view)), section("Sessions and tokens", sessions(view)))))
}

// MARK: The head

function head(view, judge) {
  const { app, user, state } = view
  return h("div", { class: "user-head" }, avatar(user, user.id, 88, "huge"),
    h("div", {}, h("h1", {}, nameOf(user, user.id)),
      h("p", { class: "quiet row" }, user.user_name && h("span", {}, `@${user.user_name}`), h("code", {}, user.id), state)),
    h("div", { class: "buttons" },
      action(app, { label: "Suspend…", scopes: ["moderate"], run: () => judgeUser(view, "suspend", judge) }),
      action(app, { label: "Approve…", scopes: ["moderate"], run: () => judgeUser(view, "approve", judge) }),
      action(app, { label: "Export", scopes: ["read"], run: () => save(view) }),
      action(app, { label: "Delete…", class: "danger", scopes: ["delete"], run: () => remove(view) })))
}

const suspension = "Within two seconds every request of the user is refused, streams end and devices are forgotten. What the user has posted stays."

async function judgeUser({ app, id }, decision, judge) {
  const isSuspension = decision === "suspend"
  const given = await ask({
    title: isSuspension ? `Suspend ${id}?` : `End the suspension of ${id}?`, action: isSuspension ? "Suspend" : "Approve", isDangerous: isSuspension,
    text: isSuspension ? suspension : "Requests of the user are accepted again.",
    content: field({ label: "Note for other moderators", name: "note", maxlength: 5000 }),
  })
  if (!given) return
  await app.api.post("/v1/moderation/cases", { user: id, decision, note: given.note.trim() || null })
  await judge()
  return isSuspension ? "The user is suspended." : "The user is not suspended."
}

/** Saves everything of the user as an archive. A response that is cut off is no archive. */
async function save({ app, id, path, signal }) {
  const archive = await app.api.get(`${path}/export`, {}, { signal, timeout: 0, headers: { Accept: "application/zip, application/problem+json" } })
  const address = URL.createObjectURL(archive)
  h("a", { href: address, download: `${id.replace(/[^\w.-]+/g, "_")}.zip` }).click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
  return `The archive has ${bytes(archive.size)}.`
}

async function remove({ app, id, path }) {
  const given = await ask({
    title: "Delete this user?", action: "Delete the user", isDangerous: true, permits: ({ typed }) => typed === id,
    text: "Everything that mentions the user is deleted: posts with their media, comments, reactions, the profile, relations, tokens and events. "
      + "Nothing brings it back but a backup.",
    content: field({ label: ["Type the id ", h("code", {}, id), " to confirm"], name: "typed", autocomplete: "off", spellcheck: "false" }),
  })
  if (!given) return
  const job = await app.api.delete(path)
  app.go(job?.id ? `job/${job.id}` : "people")
  return "The user is being deleted; the job says when nothing is left."
}

// MARK: The parts

function profile(user) {
  const known = Object.entries(user.fields ?? {}).filter(([, value]) => value !== null)
  const fields = Object.fromEntries(known.map(([name, value]) => [name, `${value}`]))
  const verified = user.email_verified ? h("span", { class: "badge good" }, "verified") : h("span", { class: "badge wait" }, "not verified")
  return facts({
    Name: user.name, "Given name": user.given_name, "Family name": user.family_name, "User name": user.user_name,
    Bio: user.bio && h("span", { class: "text" }, user.bio), Born: user.birth_date,
    "E-mail": user.email && [user.email, " ", verified],
    ...fields, Posts: count(user.counts.posts), Friends: count(user.counts.friends), "Known since": exactly(user.created_at),
  })
}

function posts({ app, id, signal }) {
  const into = h("ul", { class: "post-tiles" })
  const list = app.api.list("/v1/posts", { author: id, status: states, visibility: audiences, limit: 24 }, { signal })
  const tile = post => h("li", {}, h("a", { href: app.address(`post/${post.id}`) }, picture(post),
    post.status !== "ready" && badge(post.status), post.visibility !== "public" && h("span", { class: "badge" }, post.visibility),
    h("span", { class: "cut" }, post.title ?? post.caption ?? { take5: "Moment", photo: "Photos", marker: "Marker" }[post.kind] ?? post.kind),
    h("small", {}, time(post.created_at))))
  return [into, pages(list, { into, signal, draw: items => items.map(tile), empty: "The user has not posted." })]
}

const relations = [["established", "Friends"], ["received", "Asked by"], ["sent", "Has asked"], ["blocked", "Has blocked"]]

function friends({ app, path, id, signal }) {
  const body = h("div")
  const draw = state => {
    const into = h("ul", { class: "people" })
    const [address, query] = state === "blocked" ? ["blocks", {}] : ["friends", { state }]
    const list = app.api.list(`${path}/${address}`, { ...query, include: "author", limit: 50 }, { signal })
    const row = ({ user, target, created_at: since }, users = {}) => {
      const other = user === id ? target : user
      return h("li", { class: "row spread" }, person(app, other, users[other]), h("small", {}, time(since)))
    }
    show(body, into, pages(list, { into, signal, draw: (items, included) => items.map(item => row(item, included?.users)), empty: "None." }))
  }
  const toggles = relations.map(([state, title]) => h("button", { class: "small", "aria-pressed": `${state === "established"}`, onclick: event => {
    toggles.forEach(each => each.setAttribute("aria-pressed", `${each === event.currentTarget}`))
    draw(state)
  } }, title))
  draw("established")
  return [h("div", { class: "row", role: "group", "aria-label": "Relations" }, toggles), body]
}

const platforms = { apns: "Apple", fcm: "Firebase", web_push: "Browser" }
const outcomes = { delivered: "good", gone: "bad", device_refused: "bad", refused: "bad", credentials_refused: "bad" }

function devices({ app, path, signal }) {
  return part(app, signal, async () => {
    const { items } = await app.api.get(`${path}/devices`, {}, { signal })
    if (!items.length) return h("p", { class: "empty" }, "No device gets notifications.")
    return h("ul", { class: "rows" }, items.map(device => h("li", {}, h("div", { class: "row spread" },
      h("strong", {}, platforms[device.platform] ?? device.platform, " ", h("code", { title: "The end of the token" }, `…${device.token}`)),
      device.last_outcome && h("span", { class: `badge ${outcomes[device.last_outcome] ?? ""}` }, device.last_outcome.replaceAll("_", " "))),
    h("small", {}, "registered ", time(device.registered_at), device.locale && `, ${device.locale}`, device.zone && `, ${device.zone}`,
      device.quiet_hours && `, quiet from ${device.quiet_hours.from} to ${device.quiet_hours.until}`,
      device.last_outcome_at && [", last notified ", time(device.last_outcome_at)], device.kinds && `, only ${device.kinds.join(", ")}`))))
  }).element
}

/** The valid tokens; a sign-in without the scope ‘tokens’ sees only sessions. */
function sessions({ app, path, signal }) {
  const isMinter = app.session.can("tokens")
  const list = part(app, signal, async () => {
    const get = name => app.api.get(`${path}/${name}`, { limit: 100 }, { signal })
    const [known, tokens] = await Promise.all([get("sessions"), isMinter ? get("tokens") : { items: [] }])
    const devices = new Map(known.items.map(session => [session.id, session]))
    const rows = isMinter ? tokens.items.map(token => ({ ...token, ...devices.get(token.id) })) : known.items
    const end = row => action(app, { label: "End", class: "small", scopes: [isMinter ? "tokens" : "delete"], run: async () => {
      await app.api.delete(`${path}/${isMinter ? "tokens" : "sessions"}/${row.id}`)
      await list.again()
      return "It has ended."
    } })
    const all = action(app, { label: "End all…", class: "danger small", scopes: [isMinter ? "tokens" : "delete"], run: async () => {
      const text = "The user is signed out everywhere, within two seconds."
      if (!await ask({ title: "End all sessions?", text, action: "End all", isDangerous: true })) return
      await app.api.delete(`${path}/${isMinter ? "tokens" : "sessions"}`)
      await list.again()
      return "All have ended."
    } })
    return [table({
      caption: "Sessions and tokens", rows, empty: "The user has no valid token.", columns: [
        { title: "Token", cell: row => [row.device ?? (row.grant ? `one submission: ${row.grant.kinds.join(", ")}` : short(row.id))] },
        { title: "Since", cell: row => time(row.created_at) }, { title: "Used", cell: row => time(row.used_at) },
        { title: "Ends", cell: row => time(row.expires_at) }, { title: "Change", cell: end },
      ],
    }), rows.length > 0 && h("div", { class: "buttons" }, all),
    !isMinter && h("p", { class: "quiet" }, "A sign-in needs the scope ‘tokens’ to see tokens that permit one submission.")]
  })
  return list.element
}

const pagesOfCases = 5

/** The cases about the user and about what is the user's, of the newest 500 open and 500 decided ones; the latest decision about the user says
 *  whether the user is suspended. */
function cases({ app, id, signal, state }) {
  const missing = lacking(app, ["moderate"])
  if (missing) return { element: missing, again() {} }
  const known = previews(app, signal)
  const read = async name => {
    const found = []
    let number = 0
    for await (const { items } of app.api.list("/v1/moderation/cases", { state: name, limit: 100 }, { signal }).pages()) {
      found.push(...items.filter(each => each.user === id || each.author === id))
      if (++number === pagesOfCases) break
    }
    return found
  }
  return part(app, signal, async () => {
    const [open, decided] = await Promise.all([read("open"), read("decided")])
    const own = decided.filter(each => each.user === id).toSorted((one, other) => new Date(other.decided_at) - new Date(one.decided_at))
    show(state, own[0]?.decision === "suspend" ? h("span", { class: "badge bad" }, "suspended") : null)
    const all = [...open, ...decided]
    if (!all.length) return h("p", { class: "empty" }, "There is none.")
    const shown = all.slice(0, 20)
    known.read(shown)
    return [h("p", { class: "quiet" }, `${counted(open.length, "open case")}, ${count(decided.length)} decided`),
      h("ul", { class: "rows" }, shown.map(each => caseRow(app, each, known)))]
  })
}
