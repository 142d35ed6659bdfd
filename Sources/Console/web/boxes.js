// Reads the structure of media files without decoding them: the boxes of MP4 and AVIF (ISO/IEC 14496-12), the segments of JPEG (ITU-T T.81)
// and the chunks of WebP (RFC 9649). A broken file throws a RangeError or ends the list early.

const containers = new Set(["moov", "trak", "mdia", "minf", "stbl", "edts", "udta", "meta", "ilst"])
const most = 100_000

const viewOf = bytes => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The characters of a few bytes, one for each. */
export const text = (bytes, from, to) => String.fromCharCode(...bytes.subarray(from, to))

/** The boxes of a part of a file with those inside of them: the content is from `from` to `to`. */
export function boxes(bytes, from = 0, to = bytes.length, depth = 0) {
  const view = viewOf(bytes), found = []
  for (let at = from; at + 8 <= to && found.length < most;) {
    let [header, size] = [8, view.getUint32(at)]
    if (size === 1 && at + 16 <= to) [header, size] = [16, Number(view.getBigUint64(at + 8))]
    if (size === 0) size = to - at
    if (size < header) break
    const box = { type: text(bytes, at + 4, at + 8), size, from: at + header, to: Math.min(at + size, to), children: [] }
    if (containers.has(box.type) && depth < 8) box.children = boxes(bytes, box.from + prefix(view, box), box.to, depth + 1)
    found.push(box)
    at += size
  }
  return found
}

// A `meta` box has a version in MP4, and none in QuickTime.
const prefix = (view, box) => box.type === "meta" && box.from + 4 <= box.to && view.getUint32(box.from) === 0 ? 4 : 0

/** A box inside of another one, by the types on the way. */
export const inside = (box, ...types) => types.reduce((found, type) => found?.children.find(child => child.type === type), box)

/** The tracks of a movie: codec, size, rotation, colour, sound, and the time of each frame in seconds. */
export function tracks(bytes) {
  const view = viewOf(bytes)
  const movie = boxes(bytes).find(box => box.type === "moov")
  const header = inside(movie, "mvhd")
  const scale = header ? view.getUint32(header.from + (bytes[header.from] === 1 ? 20 : 12)) : 1
  return (movie?.children ?? []).filter(box => box.type === "trak").map(box => track(bytes, view, box, scale))
}

function track(bytes, view, box, movieScale) {
  const media = inside(box, "mdia", "mdhd"), table = inside(box, "mdia", "minf", "stbl")
  const isLong = bytes[media.from] === 1
  const timescale = view.getUint32(media.from + (isLong ? 20 : 12))
  const duration = isLong ? Number(view.getBigUint64(media.from + 24)) : view.getUint32(media.from + 16)
  const kind = inside(box, "mdia", "hdlr").from + 8
  const description = inside(table, "stsd")
  const entry = boxes(bytes, description.from + 8, description.to, 8)[0]
  const shared = { handler: text(bytes, kind, kind + 4), codec: entry.type, seconds: duration / timescale }
  if (shared.handler === "vide") return { ...shared, ...video(bytes, view, box, entry), times: times(view, box, table, timescale, movieScale) }
  if (shared.handler !== "soun") return shared
  return { ...shared, channels: view.getUint16(entry.from + 16), sampleRate: view.getUint32(entry.from + 24) >>> 16 }
}

function video(bytes, view, box, entry) {
  const header = inside(box, "tkhd")
  const matrix = header.from + (bytes[header.from] === 1 ? 52 : 40)
  const quarters = Math.round(Math.atan2(view.getInt32(matrix + 4), view.getInt32(matrix)) / (Math.PI / 2))
  const extensions = boxes(bytes, entry.from + 78, entry.to, 8)
  const settings = extensions.find(each => each.type === "avcC"), color = extensions.find(each => each.type === "colr")
  return {
    coded: { width: view.getUint16(entry.from + 24), height: view.getUint16(entry.from + 26) },
    rotation: (quarters * 90 + 360) % 360,
    profile: settings && profiles[bytes[settings.from + 1]],
    level: settings && bytes[settings.from + 3] / 10,
    color: color && text(bytes, color.from, color.from + 4) === "nclx" ? colorOf(view, color.from) : null,
  }
}

const profiles = { 66: "Baseline", 77: "Main", 88: "Extended", 100: "High", 110: "High 10" }

// The names of ITU-T H.273 that phones write.
const primaries = { 1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020", 12: "smpte432" }
const transfers = { 1: "bt709", 6: "smpte170m", 13: "iec61966-2-1", 16: "smpte2084", 18: "arib-std-b67" }
const matrices = { 1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020nc" }

const colorOf = (view, at) => ({
  primaries: primaries[view.getUint16(at + 4)] ?? "unknown", transfer: transfers[view.getUint16(at + 6)] ?? "unknown",
  matrix: matrices[view.getUint16(at + 8)] ?? "unknown", range: view.getUint8(at + 10) & 0x80 ? "pc" : "tv",
})

/** The times at which the frames of a track are shown, in their order, after its edit list. */
function times(view, box, table, timescale, movieScale) {
  const offsets = spread(runs(view, inside(table, "ctts")))
  const { start, delay } = firstEdit(view, inside(box, "edts", "elst"))
  let time = 0
  const shown = spread(runs(view, inside(table, "stts"))).map((delta, index) => {
    const at = (time + (offsets[index] ?? 0) - start) / timescale + delay / movieScale
    time += delta
    return at
  })
  return shown.filter(at => at > -0.0005).sort((left, right) => left - right)
}

function runs(view, box) {
  if (!box) return []
  const count = Math.min(view.getUint32(box.from + 4), most)
  return Array.from({ length: count }, (_, index) => [view.getUint32(box.from + 8 + index * 8), view.getInt32(box.from + 12 + index * 8)])
}

const spread = runs => runs.flatMap(([count, value]) => Array(Math.min(count, most)).fill(value))

/** The start of the first edit that shows something, in ticks of the media, and the pause before it, in ticks of the movie. */
function firstEdit(view, list) {
  let delay = 0
  if (!list) return { start: 0, delay }
  const isLong = view.getUint8(list.from) === 1
  for (let index = 0; index < Math.min(view.getUint32(list.from + 4), 100); index++) {
    const at = list.from + 8 + index * (isLong ? 20 : 12)
    const start = isLong ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4)
    if (start >= 0) return { start, delay }
    delay += isLong ? Number(view.getBigUint64(at)) : view.getUint32(at)
  }
  return { start: 0, delay }
}

const markers = { 0xc4: "DHT", 0xda: "SOS", 0xdb: "DQT", 0xdd: "DRI", 0xfe: "COM" }

/** The segments of a JPEG: `name`, with the identifier of an application segment, and the size in bytes. */
export function segments(bytes) {
  const view = viewOf(bytes), found = []
  let at = 2
  while (at + 2 <= bytes.length) {
    const marker = bytes[at + 1]
    if (bytes[at] !== 0xff) return [...found, { name: "bytes without a marker", size: bytes.length - at }]
    if (marker === 0xd9) {
      found.push({ name: "EOI", size: 2 })
      return at + 2 < bytes.length ? [...found, { name: "bytes after the image", size: bytes.length - at - 2 }] : found
    }
    const start = at
    at += 2 + view.getUint16(at + 2)
    if (marker === 0xda) at = endOfScan(bytes, at)
    found.push({ name: segmentName(bytes, marker, start), size: at - start })
  }
  return [...found, { name: "no end of the image", size: 0 }]
}

function segmentName(bytes, marker, start) {
  if (marker >= 0xe0 && marker <= 0xef) return `APP${marker - 0xe0} ${text(bytes, start + 4, start + 33).split("\0")[0]}`.trim()
  return markers[marker] ?? (marker >= 0xc0 && marker <= 0xcf ? "SOF" : `marker ${marker.toString(16)}`)
}

// Stuffed zeros and restart markers are part of the coded data.
function endOfScan(bytes, at) {
  while (at + 1 < bytes.length && !(bytes[at] === 0xff && bytes[at + 1] !== 0 && (bytes[at + 1] < 0xd0 || bytes[at + 1] > 0xd7))) at++
  return at
}

/** The chunks of a WebP. */
export function chunks(bytes) {
  const view = viewOf(bytes), found = []
  let at = 12
  for (; at + 8 <= bytes.length; at += 8 + view.getUint32(at + 4, true) + view.getUint32(at + 4, true) % 2) {
    found.push({ name: text(bytes, at, at + 4), size: 8 + view.getUint32(at + 4, true) })
  }
  return at < bytes.length ? [...found, { name: "bytes after the image", size: bytes.length - at }] : found
}
