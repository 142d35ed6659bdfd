// What identified place, device or person in the sources, and the check that it is gone: each output is read in the browser, and its boxes,
// segments or chunks are listed. The same check can be tried on a file of one's own, where it should find something.

import { boxes, chunks, inside, segments, text } from "./boxes.js"
import { bytes as size, counted, h, icon, section, show, table } from "./ui.js"

// What writers of metadata leave in a file, long enough not to occur in coded pictures by chance.
const traces = ["com.apple.", "com.android.", "iPhone", "Samsung", "SAMSUNG", "HUAWEI", "Xiaomi", "Google Pixel", "GPSLatitude", "GPSLongitude",
  "ns.adobe.com", "x:xmpmeta", "Photoshop 3.0", "Exif\0\0"]

export default async function (panel, { record, signal }) {
  const verdict = await record.verdict().catch(() => null)
  if (signal.aborted) return
  const found = identifying(verdict)
  const keys = found.map(each => each.key).filter(key => key.length >= 6)
  const checked = h("div")
  show(panel, h("div", { class: "stack" }, before(verdict, found), published(record.post), section("The check", checked), own(keys)))
  await check(checked, record, keys, signal)
}

// MARK: Metadata of the sources

function identifying(verdict) {
  const inputs = Object.entries(verdict?.inputs ?? {}).map(([name, report]) => [name, report.facts?.identifying])
  const photos = (verdict?.photos ?? []).map((photo, index) => [`photo ${index + 1}`, photo.identifying])
  return [...inputs, ...photos].flatMap(([source, list]) => (list ?? []).map(each => ({ source, ...each })))
}

const subjects = { place: "the place", device: "the device", person: "a person" }

function before(verdict, found) {
  const decisions = (verdict?.decisions ?? []).filter(each => each.subject === "privacy")
  const content = !verdict ? h("p", { class: "empty" }, "The data that the sources held appear here once their job has ended, for viewers who may read it.")
    : table({ caption: "Identifying metadata of the sources", rows: found, empty: "The sources held none.", columns: [
      { title: "Metadata", cell: each => h("code", {}, each.key) },
      { title: "About", cell: each => subjects[each.kind] ?? "unclear: it may hold anything" },
      { title: "In", cell: each => each.source },
      { title: "In the outputs", cell: () => decisions.length ? "removed" : "see the check" },
    ] })
  return section("What identified place, device or person", content,
    decisions.map(each => h("p", { class: "row good" }, icon("done"), `${each.choice[0].toUpperCase()}${each.choice.slice(1)}: ${each.reason}.`)),
    h("p", { class: "quiet" }, "The service notes the names of such entries, never their values. Sources are never served."))
}

/** What says where the post is without any file: the location that the app has sent with it. */
function published({ location, visibility }) {
  if (!location) return null
  const place = `${location.latitude.toFixed(5)}, ${location.longitude.toFixed(5)}`
  return section("Beside the files", h("p", { class: "row" }, icon("warning"), `The post itself publishes its location, ${place}, to all who see it (${visibility}).`),
    h("p", { class: "quiet" }, "The app has sent it with the post: it is in no output, and the check below does not look for it."))
}

// MARK: The check

async function check(place, record, keys, signal) {
  const { files } = record
  if (!files.length) return show(place, h("p", { class: "empty" }, "There are no outputs yet."))
  const rows = []
  for (const { name, asset } of files) {
    show(place, h("p", { class: "quiet", role: "status" }, `Reading ${name}: ${rows.length} of ${files.length} done…`))
    rows.push(await readOutput(name, asset, record, keys))
    if (signal.aborted) return
  }
  const failed = rows.filter(row => row.error), bad = rows.filter(row => row.findings?.length)
  const total = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0)
  const read = `${counted(rows.length - failed.length, "file")} with ${size(total)} read here, byte by byte`
  const said = bad.length ? h("p", { class: "row bad" }, icon("warning"), `${read}: in ${bad.length} there is what should not be there.`)
    : h("p", { class: "row good" }, icon("done"), `${read}: none identifies anything.`)
  const unread = failed.length > 0 && h("p", { class: "bad" }, `${counted(failed.length, "file")} could not be read: ${failed[0].error}`)
  show(place, rows.length > failed.length && said, unread, report(rows),
    h("p", { class: "quiet" }, "Looked for: boxes, tracks, segments and chunks that belong to no picture or sound, times of recording, ",
      `the names above, and ${traces.slice(0, 9).map(trace => `“${trace}”`).join(", ")} and the like.`))
}

async function readOutput(name, asset, record, keys) {
  try {
    const bytes = await record.media.whole(asset)
    return { name, bytes: bytes.length, ...examine(bytes, keys) }
  } catch (error) {
    if (error.name === "AbortError") return { name, error: "the view was left" }
    return { name, error: error.message }
  }
}

function report(rows) {
  return table({ caption: "The outputs and what they consist of", rows: rows.filter(row => !row.error), columns: [
    { title: "File", cell: row => h("code", {}, row.name) },
    { title: "Bytes", numeric: true, cell: row => size(row.bytes) },
    { title: "Consists of", cell: ({ kind, parts }) =>
      h("details", {}, h("summary", {}, `${kind}, ${counted(parts.length, "part")}`), h("pre", {}, parts.join("\n"))) },
    { title: "Identifies", cell: row => row.findings.length ? h("ul", { class: "plain bad" }, row.findings.map(each => h("li", {}, each)))
      : h("span", { class: "good" }, "nothing") },
  ] })
}

/** The check on a file of the person at the browser: it shows that the check is not blind. */
function own(keys) {
  const result = h("div", { role: "status" })
  const input = h("input", { type: "file", id: "own-file", accept: "video/*,image/*", onchange: async () => {
    const file = input.files[0]
    if (!file) return
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      show(result, report([{ name: file.name, bytes: bytes.length, ...examine(bytes, keys) }]))
    } catch (error) {
      show(result, h("p", { class: "bad" }, `The file could not be read to its end: ${error.message}`))
    }
  } })
  const label = h("label", { for: "own-file" }, "A clip or a photo as the phone made it; it stays in this browser")
  return section("Try the check on a file of yours", label, input, result)
}

// MARK: The examination of a file

/** What a file consists of, and what in it identifies something. */
function examine(bytes, keys = []) {
  const start = text(bytes, 0, Math.min(12, bytes.length))
  const check = start.startsWith("\xff\xd8") ? jpeg : start.startsWith("RIFF") ? webp : start.slice(4, 8) === "ftyp" ? iso : other
  const { kind, parts, findings } = check(bytes)
  const whole = new TextDecoder("latin1").decode(bytes)
  const found = [...new Set([...keys, ...traces])].filter(trace => whole.includes(trace))
  return { kind, parts, findings: [...findings, ...found.map(trace => `the text “${trace.replaceAll("\0", "")}”`)] }
}

const other = () => ({ kind: "another format", parts: [], findings: ["a format that the outputs never have"] })

const line = part => `${part.name}  ${size(part.size)}`

function jpeg(bytes) {
  const parts = segments(bytes)
  const isForeign = ({ name }) => /^APP/.test(name) && name !== "APP0 JFIF" || /^(COM|bytes |no end)/.test(name)
  return { kind: "JPEG", parts: parts.map(line), findings: parts.filter(isForeign).map(part => part.name) }
}

function webp(bytes) {
  const parts = chunks(bytes)
  const images = ["VP8X", "ANIM", "ANMF", "VP8 ", "VP8L", "ALPH"]
  return { kind: "WebP", parts: parts.map(line), findings: parts.filter(part => !images.includes(part.name)).map(part => `the chunk ${part.name}`) }
}

function iso(bytes) {
  const all = boxes(bytes)
  if (text(bytes, 8, 11) === "avi") return avif(bytes, all)
  const movie = all.find(box => box.type === "moov")
  const outside = all.filter(box => !["ftyp", "moov", "free", "mdat"].includes(box.type)).map(box => `the box ${box.type}`)
  const trackFindings = (movie?.children ?? []).filter(box => box.type === "trak").flatMap(box => {
    const handler = inside(box, "mdia", "hdlr")
    const kind = handler ? text(bytes, handler.from + 8, handler.from + 12) : "unknown"
    return kind === "vide" || kind === "soun" ? [] : [`a track of ${kind}`]
  })
  return { kind: "MP4", parts: tree(all), findings: [...outside, ...trackFindings, ...userData(movie), ...recordingTimes(bytes, movie)] }
}

/** The entries of user data; the muxer writes its own name. */
function userData(movie) {
  const entries = walk(movie?.children ?? []).flatMap(box => {
    if (box.type === "udta") return box.children.filter(child => child.type !== "meta").map(child => child.type)
    if (box.type === "ilst") return box.children.map(child => child.type)
    return box.type === "keys" || box.type === "uuid" ? [box.type] : []
  })
  return entries.filter(type => type !== "©too").map(type => `user data ${/^[\x20-\xff]{4}$/.test(type) ? type : "by number"}`)
}

/** A movie or a track with a time of its creation. */
function recordingTimes(bytes, movie) {
  const headers = walk(movie?.children ?? []).filter(box => ["mvhd", "tkhd", "mdhd"].includes(box.type))
  const isSet = box => bytes.subarray(box.from + 4, box.from + (bytes[box.from] === 1 ? 12 : 8)).some(byte => byte !== 0)
  return headers.filter(isSet).map(box => `a time of recording in ${box.type}`)
}

/** An AVIF may have items of its picture only; each names its type in the item list. */
function avif(bytes, all) {
  const lists = all.filter(box => box.type === "meta").map(box => new TextDecoder("latin1").decode(bytes.subarray(box.from, box.to)))
  const items = [...lists.join("").matchAll(/infe[\s\S]{8}(.{4})/g)].map(([, type]) => type)
  return { kind: "AVIF", parts: tree(all), findings: items.filter(type => type !== "av01" && type !== "grid").map(type => `an item ${type}`) }
}

const walk = list => list.flatMap(box => [box, ...walk(box.children)])
const tree = (list, depth = 0) => list.flatMap(box => [`${"  ".repeat(depth)}${box.type}  ${size(box.size)}`, ...tree(box.children, depth + 1)])
