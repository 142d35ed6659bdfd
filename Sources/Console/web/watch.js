// What a viewer sees of a post: its media playing, what it says, and what others have left on it.

import { person } from "./parts.js"
import { picture } from "./picture.js"
import { media } from "./player.js"
import { quoted } from "./timeline.js"
import { action, command, confirm, counted, exactly, facts, h, pages, section, show, time } from "./ui.js"
import { reasonsOf } from "./verdict.js"

export default async function (panel, { record, app, signal }) {
  const { post } = record
  show(panel, h("div", { class: "watch" },
    h("div", { class: "stack" }, reasonsOf(post), post.status === "failed" && cause(record, app, signal), media(post, { app, signal, isAlone: true }) ?? waiting(post)),
    h("div", { class: "stack" }, section("The post", about(post)), section("Places and times", where(post)), fields(post), again(post))),
  h("div", { class: "grid talk" }, comments(post, app, signal), reactions(post, app, signal), likes(post, app, signal)))
}

/** Why a post has failed: the error of its job, and the job. */
function cause(record, app, signal) {
  const said = h("span", { class: "quiet" }, "Reading its error…"), { job } = record.post
  if (!job) return null
  Promise.all([record.job(), record.entry()]).then(([known, entry]) => show(said, entry?.error ?? known?.error ?? "It has no error."),
    error => signal.aborted || show(said, error.detail ?? "Its error cannot be read."))
  return h("section", { class: "card", "aria-label": "Why it has failed" }, h("h2", {}, "Why it has failed"), h("p", {}, said),
    h("p", {}, h("a", { href: app.address(`job/${job.id}`) }, "The job"), " can be retried once the cause is removed."))
}

function waiting(post) {
  if (post.kind === "marker" && !post.job) return h("p", { class: "card empty" }, "A marker without media.")
  if (post.status === "processing") return h("div", { class: "card waiting" }, h("p", {}, "The first look comes within about a second."))
  return h("p", { class: "card empty" }, "There are no media to see.")
}

// MARK: What it says

function about(post) {
  return [post.caption && h("p", { class: "caption" }, post.caption), facts({
    Title: post.title, "In words": post.alternative_text, Visibility: post.visibility, "From age": post.min_age,
    Foreground: post.kind === "take5" ? post.foreground : null, Window: windowText(post.window),
    Offset: Number.isFinite(post.offset_seconds) ? `${Math.round(post.offset_seconds * 1000)} ms, the front behind the back` : null,
    Counts: [counted(post.counts.comments, "comment"), counted(post.counts.reactions, "reaction"), counted(post.counts.likes, "like")].join(", "),
    Id: h("code", {}, post.id),
  })]
}

/** A coordinate, and before it the city that it is in or near, as the map calls it, once the map's cities are there. */
function spot(coordinate) {
  if (!coordinate) return null
  const element = h("span", {}, hasPlace(coordinate))
  import("./region.js").then(({ region }) => {
    const name = region(coordinate)
    if (!name.includes("°")) element.prepend(`${name}, `)
  }, () => {})
  return element
}

const hasPlace = coordinate => coordinate ? `${coordinate.latitude.toFixed(5)}, ${coordinate.longitude.toFixed(5)}` : null

function where(post) {
  return facts({
    Place: post.place ? h("span", {}, post.place.name ?? "", " ", h("code", {}, post.place.id)) : null, "Place at": hasPlace(post.place?.coordinate),
    "Filmed at": spot(post.location), Recorded: post.captured_at ? exactly(post.captured_at) : null, Submitted: exactly(post.created_at),
    Changed: exactly(post.updated_at),
  })
}

function windowText(window) {
  if (!window) return null
  return { on_time: "on time", late: `late by ${counted(window.late_seconds, "second")}`, outside: "outside of a window" }[window.state]
}

function fields(post) {
  const named = Object.entries(post.fields ?? {})
  return named.length > 0 && section("Fields", facts(Object.fromEntries(named.map(([name, value]) => [name, String(value)]))))
}

// MARK: The same on the command line

function submission(post) {
  const { location } = post
  const photos = post.photos.map((_, index) => `${index + 1}.jpg`).join(" ")
  const files = { take5: "post front.mp4 back.mp4", photo: `photo ${photos || "1.jpg"}`, marker: post.job ? "marker FILE" : "marker" }
  const options = { author: post.author, title: post.title, caption: post.caption, "alternative-text": post.alternative_text,
    visibility: post.visibility === "public" ? null : post.visibility, foreground: post.foreground === "back" ? "back" : null,
    location: location ? `${location.latitude},${location.longitude}` : null, "captured-at": post.captured_at }
  const given = Object.entries(options).filter(([, value]) => value).map(([name, value]) => `--${name} ${quoted(value)}`)
  return ["take5 submit", files[post.kind], ...given, post.job && "--wait --explain"].filter(Boolean).join(" ")
}

function again(post) {
  const foreground = post.foreground === "back" ? " --foreground back" : ""
  const local = post.kind === "take5"
    ? ["take5 validate front.mp4 back.mp4 --explain", `take5 compose front.mp4 back.mp4${foreground} --outputs moment -o moment.mp4`]
    : post.kind === "photo" ? ["take5 photo 1.jpg -o variants"] : post.assets.clip ? ["take5 inspect FILE --json"] : []
  return section("Repeat it on the command line", h("div", { class: "stack" }, command(submission(post)), local.map(command),
    post.job && command(`take5 posts save ${post.id} saved`), h("p", { class: "quiet" }, "With ", h("code", {}, "--server URL"), " and ",
      h("code", {}, "--api-key-file FILE"), ", if the service runs on another machine.")))
}

// MARK: What others have left

function comments(post, app, signal) {
  const list = h("ul", { class: "plain comments" })
  const draw = items => items.map(comment => {
    const row = h("li", { class: comment.hidden ? "quiet" : null }, h("p", { class: "row" }, person(app, comment.author), time(comment.created_at),
      comment.edited_at && h("small", {}, "edited"), comment.hidden && h("small", {}, "hidden")), h("p", { class: "caption" }, comment.text),
    h("div", { class: "row" }, moderation(app, { comment: comment.id }, comment.hidden, "comment"),
      removal(app, "comment", comment.text, `/v1/posts/${post.id}/comments/${comment.id}`, () => row.remove())))
    return row
  })
  return section(counted(post.counts.comments, "comment"), list,
    pages(app.api.list(`/v1/posts/${post.id}/comments`, {}, { signal }), { draw, into: list, signal, empty: "Without a comment so far." }))
}

function removal(app, noun, text, path, ondone) {
  return action(app, { label: "Delete", class: "link", scopes: ["delete"], run: async () => {
    if (!await confirm({ title: `Delete this ${noun}?`, text, action: "Delete", isDangerous: true })) return null
    await app.api.delete(path)
    ondone()
    return `The ${noun} is deleted.`
  } })
}

function moderation(app, subject, isHidden, noun) {
  const [label, decision, done] = isHidden ? ["Show again", "approve", "is shown again"] : ["Hide", "hide", "is hidden"]
  return action(app, { label, class: "link", scopes: ["moderate"], run: async () => {
    const text = "Hidden, only its author sees it."
    if (!await confirm({ title: `${label} this ${noun}?`, text, action: label, isDangerous: !isHidden })) return null
    await app.api.post("/v1/moderation/cases", { ...subject, decision })
    return `The ${noun} ${done}.`
  } })
}

function reactions(post, app, signal) {
  const list = h("div", { class: "reactions" })
  const draw = items => items.map(image => {
    const asset = image.assets["photo.small"] ?? image.assets["photo.square"] ?? image.assets["photo.medium"]
    const figure = h("figure", {}, asset && picture(asset, { alt: image.alternative_text ?? `Reaction of ${image.author}` }),
      h("figcaption", {}, image.author && person(app, image.author), time(image.created_at), moderation(app, { image: image.id }, false, "reaction"),
        removal(app, "reaction", null, `/v1/posts/${post.id}/reactions/${image.id}`, () => figure.remove())))
    return figure
  })
  return section(counted(post.counts.reactions, "reaction"), list,
    pages(app.api.list(`/v1/posts/${post.id}/reactions`, { limit: 24 }, { signal }),
      { draw, into: list, signal, empty: "Without a reaction so far." }))
}

function likes(post, app, signal) {
  const list = h("ul", { class: "plain likes" })
  const draw = items => items.map(like => h("li", { class: "row" }, person(app, like.user), time(like.created_at)))
  return section(counted(post.counts.likes, "like"), list,
    pages(app.api.list(`/v1/posts/${post.id}/likes`, {}, { signal }), { draw, into: list, signal, empty: "Without a like so far." }))
}
