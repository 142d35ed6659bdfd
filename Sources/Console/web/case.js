// One case of moderation: what it is about with its media, who has reported it, and the decision, also by the keys a, h and s.
// The list of cases shows its rows and previews.

import { audiences, nameOf } from "./glance.js"
import { isRefusal, lacking, person, picture } from "./parts.js"
import { action, badge, confirm, count, counted, exactly, facts, field, h, section, show, table, time } from "./ui.js"

const kinds = ["post", "comment", "user", "place", "image", "collection"]
const causes = { held: "held by its definition", report: "reported", moderator: "opened by a moderator" }

const kindOf = found => kinds.find(kind => found[kind] !== null)

// MARK: The list

/** What cases are about, for their rows: posts, users and places are read together, others one by one. `fill(case, element)` draws a
 *  preview once it is known. */
export function previews(app, signal) {
  const known = new Map()
  // The elements that are to be drawn once their record is known.
  const waiting = new Map()
  const keep = (url, record) => {
    known.set(url, record)
    waiting.get(url)?.forEach(element => show(element, preview(record)))
    waiting.delete(url)
  }
  const options = { signal }
  const together = async (kind, path, cases) => {
    const wanted = cases.filter(each => each[kind] !== null)
    if (!wanted.length) return
    const query = kind === "post" ? { limit: 100 } : {}
    const { items } = await app.api.get(path, { ...query, id: [...new Set(wanted.map(each => each[kind]))] }, options)
    wanted.forEach(each => keep(each.url, { kind, record: items.find(item => item.id === each[kind]) ?? null }))
  }
  return {
    async read(cases) {
      if (!app.session.can("read")) return
      const unknown = cases.filter(each => each.url && !known.has(each.url))
      const others = unknown.filter(each => ["comment", "image", "collection"].includes(kindOf(each)))
      const single = each => app.api.get(each.url, {}, options).catch(error => { if (isRefusal(error)) return null; throw error })
        .then(record => keep(each.url, { kind: kindOf(each), record }))
      await Promise.allSettled([together("post", "/v1/posts", unknown), together("user", "/v1/users", unknown),
        together("place", "/v1/places", unknown), ...others.map(single)])
    },
    fill(found, element) {
      if (known.has(found.url)) show(element, preview(known.get(found.url)))
      else waiting.set(found.url, [...waiting.get(found.url) ?? [], element])
    },
  }
}

function preview({ kind, record }) {
  if (!record) return [h("span", { class: "peek", "aria-hidden": "true" }), h("span", { class: "quiet" }, "It is not there any more.")]
  const said = [record.title, record.caption].filter(Boolean).join(" · ")
  const text = { post: said, comment: record.text, user: record.bio, image: record.alternative_text }[kind]
  const name = { user: nameOf(record), place: record.name, collection: record.name }[kind]
  return [picture(record), h("span", { class: "clamp" }, name && h("strong", {}, name, " "),
    text || (!name && h("span", { class: "quiet" }, "without words")))]
}

/** A case in a list. */
export function caseRow(app, found, known) {
  const kind = kindOf(found)
  const seen = h("span", { class: "case-peek" }, h("span", { class: "peek", "aria-hidden": "true" }))
  known.fill(found, seen)
  return h("li", {}, h("a", { class: "case-row", href: app.address(`case/${found.id}`) }, seen,
    h("span", { class: "row" }, found.state === "decided" ? badge(found.decision) : null, h("span", { class: "badge" }, kind),
      h("span", { class: `badge ${found.cause === "report" ? "bad" : "wait"}` },
        found.cause === "report" ? counted(found.counts.reports, "report") : causes[found.cause]),
      found.author && h("small", {}, `of ${found.author}`), h("small", {}, time(found.created_at)))))
}

// MARK: The case

const effects = {
  post: { approve: "It is shown as its visibility says.", hide: "Only its author sees it, with its media, comments and reactions." },
  place: { approve: "It is shown again.", hide: "It is in no list and on no map; posts and photos there stay." },
  user: { approve: "The user is not suspended.", suspend: "Within two seconds all requests of the user are refused." },
  other: { approve: "It is shown.", hide: "Only its author sees it, and counts are without it." },
}

export default async function (main, { app, id, signal }) {
  const frame = h("div", { class: "stack" }, h("p", { class: "empty" }, "Loading…"))
  show(main, h("p", {}, h("a", { href: app.address("people", { tab: "cases" }) }, "All cases")), h("h1", {}, "Case"), frame)
  const missing = lacking(app, ["moderate"])
  if (missing) return show(frame, missing)
  const path = `/v1/moderation/cases/${encodeURIComponent(id)}`
  let found = await app.api.get(path, {}, { signal })
  const kind = kindOf(found)
  main.querySelector("h1").textContent = `Case about a${kind === "image" ? "n" : ""} ${kind}`
  const subject = h("section", { class: "card", "aria-label": "What it is about" }, h("p", { class: "empty" }, "Loading…"))
  const decision = h("div"), next = h("div", { class: "row" })
  show(frame, h("div", { class: "columns" }, subject, h("div", { class: "stack" }, reportsOf(app, found), decision)))

  const note = field({ label: "Note for other moderators", name: "note", type: "textarea", value: "", maxlength: 5000 })
  const text = note.querySelector("textarea")
  text.addEventListener("keydown", event => event.key === "Escape" && text.blur())
  const noted = () => text.value.trim() || null

  const decide = name => async () => {
    if (name === "suspend" && !await sure(found.user)) return
    const body = { decision: name, note: noted() }
    const decided = await (found.state === "open" ? app.api.post(`/v1/moderation/cases/${found.id}/decision`, body)
      : app.api.post("/v1/moderation/cases", { [kind]: found[kind], ...body })).catch(again)
    text.value = ""
    if (decided.id !== found.id) return void app.go(`case/${decided.id}`)
    found = { ...decided, reports: found.reports }
    draw()
    next.querySelector("a")?.focus()
    return `Decided: ${name}.`
  }
  // Another moderator was faster: shows that decision.
  const again = async error => {
    if (error.code !== "case_decided") throw error
    found = await app.api.get(path, {}, { signal })
    draw()
    throw error
  }
  const suspendAuthor = async () => {
    if (!await sure(found.author)) return
    await app.api.post("/v1/moderation/cases", { user: found.author, decision: "suspend", note: noted() })
    return `${found.author} is suspended.`
  }

  const buttons = () => {
    const says = effects[kind] ?? effects.other
    const button = (label, key, run, title, isTaken, kind) => {
      const element = action(app, { label, scopes: ["moderate"], run, class: kind })
      element.append(h("kbd", {}, key))
      element.setAttribute("aria-keyshortcuts", key)
      if (isTaken) element.setAttribute("aria-pressed", "true")
      return [element, h("small", {}, title)]
    }
    const list = Object.entries(says).map(([name, title]) =>
      button(name[0].toUpperCase() + name.slice(1), name[0], decide(name), title, found.decision === name, name === "approve" ? "" : "danger"))
    const author = kind !== "user" && found.author
    return [...list, ...author ? [button("Suspend the author", "s", suspendAuthor, `All requests of ${author} are refused.`, false, "")] : []]
      .map(each => h("div", { class: "decide" }, each))
  }

  function draw() {
    const isOpen = found.state === "open"
    const by = found.decided_by && ` by ${/^\d+$/.test(found.decided_by) ? "key " : ""}${found.decided_by}`
    show(decision, h("section", { class: "card", "aria-label": "Decision" },
      h("div", { class: "row spread" }, h("h2", {}, isOpen ? "Decision" : "Decided"), badge(isOpen ? "open" : found.decision)),
      facts({
        Opened: [exactly(found.created_at), ", ", causes[found.cause]], Author: found.author && person(app, found.author),
        Decided: found.decided_at && [exactly(found.decided_at), by], Note: found.note,
      }), note, !isOpen && h("p", { class: "quiet" }, "This case stays as it was decided. If you decide otherwise now, that is written down as a new case."), buttons(), next))
  }

  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return
    if (event.target.closest("input, textarea, select")) return
    const target = event.key === "n" ? next.querySelector("a") : decision.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`)
    if (!target) return
    event.preventDefault()
    target.click()
  }, { signal })

  draw()
  showNext(app, found, next, signal)
  await showSubject(app, found, kind, subject, signal)
}

const sure = user => confirm({
  title: `Suspend ${user}?`, action: "Suspend", isDangerous: true,
  text: "Within two seconds every request of the user is refused, streams end and devices are forgotten. "
    + "What the user has posted stays. Approving the user ends it.",
})

async function showNext(app, found, next, signal) {
  const { items, next: more } = await app.api.get("/v1/moderation/cases", { state: "open", limit: 100 }, { signal }).catch(() => ({ items: [] }))
  if (signal.aborted) return
  const others = items.filter(each => each.id !== found.id)
  const following = others.find(each => each.created_at < found.created_at) ?? others[0]
  if (!following) return show(next, h("span", { class: "quiet" }, "No other case is open."))
  show(next, h("a", { class: "button", href: app.address(`case/${following.id}`), "aria-keyshortcuts": "n" }, "Next open case", h("kbd", {}, "n")),
    h("small", {}, `${count(others.length)}${more ? " and more" : ""} others are open`))
}

function reportsOf(app, { reports = [], counts }) {
  if (!reports.length) return section("Reports", h("p", { class: "empty" }, "No user has reported it."))
  const row = report => h("li", { class: "report" },
    h("div", { class: "row" }, h("span", { class: "badge bad" }, report.reason), person(app, report.author), h("small", {}, time(report.created_at))),
    report.text && h("blockquote", {}, report.text))
  return section(counted(counts.reports, "report"), h("ul", { class: "rows" }, reports.map(row)),
    counts.reports > reports.length && h("p", { class: "quiet" }, "The first hundred are shown."))
}

// MARK: What it is about

async function showSubject(app, found, kind, element, signal) {
  const missing = lacking(app, ["read"])
  if (missing) return show(element, h("h2", {}, kind), missing)
  if (!found.url) return show(element, h("h2", {}, kind), h("p", { class: "empty" }, "It is not there any more."))
  try {
    const record = await app.api.get(found.url, {}, { signal })
    const content = await drawings[kind](app, record, signal)
    if (!signal.aborted) show(element, content)
  } catch (error) {
    if (signal.aborted) return
    if (!isRefusal(error)) throw error
    show(element, h("h2", {}, kind), h("p", { class: "empty" }, error.status === 404 ? "It is not there any more." : error.detail))
  }
}

const paragraph = text => text && h("p", { class: "text" }, text)

/** The post that something is on, as a link. */
async function linkOf(app, post, signal) {
  const record = await app.api.get(`/v1/posts/${post}`, {}, { signal }).catch(() => null)
  return h("a", { class: "on", href: app.address(`post/${post}`) }, picture(record), h("span", { class: "clamp" },
    record ? record.caption ?? record.title ?? `A post of ${record.author}` : "A post"))
}

const drawings = {
  async post(app, post, signal) {
    const { media } = await import("./player.js")
    return [h("div", { class: "row spread" }, person(app, post.author), badge(post.status)), h("div", { class: "case-media" },
      media(post, { app, signal, autoplay: false }) ?? h("p", { class: "empty" }, "It has no media to show.")),
    post.title && h("h2", {}, post.title), paragraph(post.caption), facts({
      Kind: post.kind, Visibility: post.visibility, Posted: time(post.created_at), Place: post.place && (post.place.name ?? post.place.id),
      "Shows, in words": post.alternative_text, Counts: `${counted(post.counts.comments, "comment")}, ${counted(post.counts.likes, "like")}`,
    }), h("p", {}, h("a", { href: app.address(`post/${post.id}`) }, "The post with all that is known"))]
  },
  async comment(app, comment, signal) {
    return [h("div", { class: "row spread" }, person(app, comment.author), comment.hidden && badge("hidden")),
      h("blockquote", { class: "big" }, comment.text),
      h("p", { class: "quiet" }, "Written ", time(comment.created_at), comment.edited_at && [", changed ", time(comment.edited_at)]),
      comment.post ? [h("h3", {}, "On"), await linkOf(app, comment.post, signal)]
        : facts({ "On the place": comment.place, "On the collection": comment.collection })]
  },
  async image(app, image, signal) {
    const file = ["photo.large", "photo.medium", "avatar", "photo.small"].map(role => image.assets[role]).find(Boolean)
    const words = image.alternative_text ?? `An image (${image.kind}) by ${image.author ?? "an unknown user"}`
    return [h("div", { class: "row spread" }, image.author ? person(app, image.author) : h("span"), badge(image.status)),
      file ? h("img", { class: "media case-image", src: file.url, alt: words, width: file.width, height: file.height })
        : h("p", { class: "empty" }, "It has no media to show."),
      facts({
        Kind: image.kind, Sent: time(image.created_at), "Shows, in words": image.alternative_text, Of: image.kind === "reaction" ? null : image.owner,
      }),
      image.kind === "reaction" && await linkOf(app, image.owner, signal)]
  },
  async user(app, user, signal) {
    const image = user.profile_image?.avatar
    const { items } = await app.api.get("/v1/posts", { author: user.id, visibility: audiences, limit: 8 }, { signal })
    const alt = `The profile image of ${nameOf(user, user.id)}`
    return [image && h("img", { class: "media case-image", src: image.url, alt, width: 320, height: 320 }),
      h("h2", {}, person(app, user.id, user)), paragraph(user.bio), facts({
        Id: h("code", {}, user.id), "User name": user.user_name, Name: user.name, "E-mail": user.email, "Known since": time(user.created_at),
        Posts: count(user.counts.posts), Friends: count(user.counts.friends),
      }), h("h3", {}, "Latest posts"), items.length ? h("ul", { class: "peeks" }, items.map(post => h("li", {}, h("a", {
        href: app.address(`post/${post.id}`), "aria-label": `A post of ${post.created_at}`,
      }, picture(post))))) : h("p", { class: "empty" }, "None is ready.")]
  },
  async place(app, place) {
    const at = place.coordinate
    return [Object.keys(place.photo ?? {}).length > 0 && h("div", { class: "case-media" }, picture(place, `A photo of ${place.name ?? place.id}`)),
      h("h2", {}, place.name ?? place.id), facts({
        Id: h("code", {}, place.id), Coordinate: at && `${at.latitude.toFixed(5)}, ${at.longitude.toFixed(5)}`,
        Categories: place.categories.join(", ") || null,
        Rating: place.rating, "Described first by": place.author && person(app, place.author), "Known since": time(place.created_at),
        Counts: ["posts", "comments", "favourites"].map(name => counted(place.counts[name], name.slice(0, -1))).join(", "),
      })]
  },
  async collection(app, collection) {
    const item = row => row.post ? h("a", { href: app.address(`post/${row.post}`) }, row.post) : row.place ?? "a post that is not shown"
    const fields = Object.fromEntries(Object.entries(collection.fields ?? {}).map(([name, value]) => [name.replaceAll("_", " "), `${value}`]))
    return [h("div", { class: "row spread" }, person(app, collection.author), collection.hidden && badge("hidden")),
      Object.keys(collection.thumbnail ?? {}).length > 0 && h("div", { class: "case-media" }, picture(collection, `The image of ${collection.name}`)),
      h("h2", {}, collection.name), facts({ Kind: collection.kind, Visibility: collection.visibility, Made: time(collection.created_at), ...fields }),
      table({
        caption: "Items", rows: (collection.items ?? []).slice(0, 50), empty: "It has no items.", columns: [
          { title: "Item", cell: item },
          { title: "What is said", cell: ({ post, place, ...words }) => Object.values(words).join(" · ") },
        ],
      })]
  },
}
