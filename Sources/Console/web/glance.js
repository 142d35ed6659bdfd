// What the map, the calendar and the feed show of a post at a glance: its picture, its author, its place and its counts; and why media are
// rejected, in the words of all views.

import { counted, exactly, h, icon } from "./ui.js"

/** The kinds of posts in words. */
export const kinds = { take5: "Moment", photo: "Photos", marker: "Marker" }

/** What each kind has as its sign where there is no picture. */
const signs = { take5: "film", photo: "photo", marker: "moments" }

const reasons = {
  empty_file: "The file is empty", unsupported_container: "The format of the file is not supported", truncated_container: "The file is cut off",
  no_video_stream: "It has no video", unsupported_codec: "The encoding is not supported", corrupt_video: "The video is damaged",
  corrupt_image: "The photo is damaged", duration_out_of_range: "It is too short or too long", durations_differ: "The clips differ in length",
  too_large: "It is too large", not_one_moment: "The clips are not of one moment", same_file_twice: "Both clips are the same file",
  decoder_crashed: "The decoder crashed on it", memory_limit_exceeded: "It takes too much memory", deadline_exceeded: "It takes too long",
  quarantined: "The same bytes are in quarantine", upload_expired: "The upload has expired", digest_mismatch: "The bytes are others than announced",
}

/** Why media are rejected, in words; the code itself if it is not known. */
export const reasonWords = code => reasons[code] ?? code

/** The kinds as options of a filter. */
export const kindOptions = [["", "All kinds"], ["take5", "Moments"], ["photo", "Photos"], ["marker", "Markers"]]

/** All audiences, and all states of a post: with both a list of posts has all of them. */
export const audiences = ["public", "friends", "private"]
export const states = ["processing", "ready", "rejected", "failed", "held", "hidden"]

/** The roles of the picture that stands for a record, the best first: in a tile, on a card, in a row of records, and of a photo in its strip. */
export const pictures = {
  tile: ["image", "photo.square", "photo.small", "thumbnail", "thumbnail.back", "thumbnail.front", "poster"],
  card: ["poster", "photo.medium", "image", "photo.small", "thumbnail", "thumbnail.back", "thumbnail.front"],
  row: ["photo.small", "photo.square", "thumbnail.back", "thumbnail", "thumbnail.front", "image", "poster", "avatar.small", "photo.medium", "avatar"],
  strip: ["photo.large", "photo.medium", "photo.small", "photo.square"],
}

/** The first of the roles that a post has, of its own media or of its first photo. */
function first({ assets = {}, photos = [] }, roles) {
  return roles.map(role => assets[role] ?? photos[0]?.[role]).find(Boolean) ?? null
}

/** The picture for a pin or a row; null without media. */
const small = post => first(post, pictures.tile)

/** The picture for a card; null without media. */
export const large = post => first(post, pictures.card)

/** Whether there is something to play. */
export const isPlayable = ({ assets = {} }) => Boolean(assets.composed ?? assets.clip ?? assets["clip.front"])

/** Where a post is: at its location or, without one, at its place. */
export const coordinateOf = (post, places = {}) => post.location ?? post.place?.coordinate ?? places[post.place?.id]?.coordinate ?? null

/** What a user is called: the name, the user name or the id. A name may be empty or have blanks alone. */
export const nameOf = (user, id) => user?.name?.trim() || user?.user_name || id

/** The name of the author, if the response has brought it. */
export const authorOf = (post, users = {}) => nameOf(users[post.author], post.author)

/** The counts that are not zero: 2 likes · 1 comment. */
export function countsOf({ counts }) {
  const parts = [["likes", "like"], ["comments", "comment"], ["reactions", "reaction"]].filter(([key]) => counts?.[key] > 0)
  return parts.map(([key, noun]) => counted(counts[key], noun)).join(" · ")
}

/** What a player of a post is called: “Moment by ada: a lake at dusk”. */
export function labelOf({ kind, author, alternative_text: words, caption, title }) {
  const text = words ?? caption ?? title
  return `${kinds[kind] ?? "Post"} by ${author}${text ? `: ${text}` : ""}`
}

/** A post in one phrase, for a screen reader. */
export function phrase(post, users) {
  const text = post.title ?? post.caption
  return `${kinds[post.kind] ?? post.kind} by ${authorOf(post, users)}, ${exactly(post.created_at)}${text ? `: ${text.slice(0, 80)}` : ""}`
}

/** A square picture of a post, or the sign of its kind. */
export function tile(post) {
  const asset = small(post)
  if (!asset) return h("span", { class: "tile-sign" }, icon(signs[post.kind] ?? "moments"))
  const image = h("img", { class: "tile-image", src: asset.url, alt: "", loading: "lazy", decoding: "async", draggable: "false" })
  if (asset.color) image.style.setProperty("background-color", asset.color)
  return image
}
