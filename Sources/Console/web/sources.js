// The sources beside what was made from them: the facts of each submitted file by the verdict, those of each output by its own tables.

import { tracks } from "./boxes.js"
import { picture } from "./picture.js"
import { bytes, count, h, section, show, table } from "./ui.js"

export default async function (panel, { record, signal }) {
  const verdict = await record.verdict().catch(() => null)
  const files = record.post.photos.length ? [] : await clipFiles(record, verdict)
  if (signal.aborted) return
  show(panel, h("div", { class: "stack" },
    files.length > 0 && section("Sources beside outputs", pictures(record), note(verdict), comparison(files)),
    record.post.photos.map((photo, index) => photoSection(photo, verdict?.photos?.[index], index, record.post.photos.length)),
    section("All outputs", outputs(record.files))))
}

const note = verdict => h("p", { class: "quiet" },
  verdict ? "A value that differs from the source has a dotted line below it. " : "The facts of the sources appear here once their job has ended, for viewers who may read it. ",
  "Sources identify place and device, so the service serves them to no client; the pictures are the playable copies.")

// MARK: Clips

async function clipFiles({ post, media }, verdict) {
  const pairs = post.assets.clip || verdict?.inputs?.clip ? [["clip", "clip"]] : [["front", "clip.front"], ["back", "clip.back"]]
  const files = await Promise.all(pairs.flatMap(([input, role]) => {
    const report = verdict?.inputs?.[input]
    const source = report && sourceFile(input, report)
    return [source, post.assets[role] && outputFile(role, post.assets[role], media, source)]
  }))
  const composed = ["composed", "composed.swapped", "composed.small"].filter(role => post.assets[role])
  return [...files, ...await Promise.all(composed.map(role => outputFile(role, post.assets[role], media)))].filter(Boolean)
}

function sourceFile(input, { facts, frames, decoded_seconds: decoded }) {
  const { video, audio } = facts
  const duration = decoded ?? facts.duration
  return { title: `source ${input}`, values: {
    Container: facts.container.toUpperCase(), Codec: [video.codec, video.profile].filter(Boolean).join(" "),
    Coded: size(video.coded), Upright: size(video.display), Rotation: turn(video.transform),
    Frames: frames === undefined ? null : count(frames), Rate: video.frames_per_second ? rate(video.frames_per_second) : null,
    Duration: duration ? `${duration.toFixed(3)} s` : null, Colour: color(video.color),
    Sound: audio ? `${[audio.codec, audio.profile].filter(Boolean).join(" ")}, ${count(audio.sample_rate)} Hz, ${audio.channels} ch` : "none",
    Bytes: bytes(facts.bytes), "Bits a second": duration ? bits(facts.bytes, duration) : null,
    Identifies: identifies(facts.identifying),
  } }
}

async function outputFile(role, asset, media, source = null) {
  const [video, sound] = await tables(asset, media)
  const frames = video?.times.length
  return { title: role, source, values: {
    Container: asset.type === "video/mp4" ? "MP4" : asset.type, Codec: video ? [codec(video.codec), video.profile].filter(Boolean).join(" ") : null,
    Coded: video ? size(video.coded) : null, Upright: size(asset), Rotation: video ? turn(video) : null,
    Frames: frames ? count(frames) : null, Rate: frames ? rate(frames / video.seconds) : null,
    Duration: asset.duration ? `${asset.duration.toFixed(3)} s` : null, Colour: video?.color ? color(video.color) : null,
    Sound: sound ? `${codec(sound.codec)}, ${count(sound.sampleRate)} Hz, ${sound.channels} ch` : video ? "none" : null,
    Bytes: bytes(asset.bytes), "Bits a second": asset.duration ? bits(asset.bytes, asset.duration) : null, Identifies: "nothing",
  } }
}

/** The tracks of a video by its tables; none if they cannot be read. */
async function tables(asset, media) {
  try {
    const all = tracks(await media.start(asset))
    return [all.find(track => track.handler === "vide"), all.find(track => track.handler === "soun")]
  } catch {
    return []
  }
}

const codec = name => ({ avc1: "h264", avc3: "h264", hvc1: "hevc", hev1: "hevc", mp4a: "aac" })[name] ?? name
const size = ({ width, height }) => width ? `${width}×${height}` : null
const turn = ({ rotation, mirrored }) => [mirrored && "mirrored", rotation && `${rotation}°`].filter(Boolean).join(", ") || "none"
const rate = number => `${number.toFixed(2)}/s`
const bits = (number, seconds) => `${(number * 8 / seconds / 1e6).toFixed(2)} Mbit/s`
const color = ({ primaries, transfer, matrix, range }) =>
  [...new Set([primaries, transfer, matrix]), { pc: "full", tv: "limited" }[range]].filter(Boolean).join(", ")
const identifies = list => list.length ? [...new Set(list.map(each => each.kind))].join(", ") : "nothing"

function comparison(files) {
  const properties = Object.keys(files[0].values)
  const cell = (file, name) => {
    const value = file.values[name]
    const before = file.source?.values[name]
    // The name of a profile of sound is not in the tables of the copy.
    const differs = before && value && name !== "Sound" && value.toLowerCase() !== before.toLowerCase()
    return differs ? h("span", { class: "changed" }, value) : value
  }
  return table({ caption: "Properties of the sources and of the outputs", rows: properties, columns: [
    { title: "Property", cell: name => name }, ...files.map(file => ({ title: file.title, cell: name => cell(file, name) }))] })
}

function pictures({ post }) {
  const clips = [["front", "clip.front"], ["back", "clip.back"], ["clip", "clip"], ["composed", "composed"]].filter(([, role]) => post.assets[role])
  return h("div", { class: "lanes" }, clips.map(([name, role]) => h("figure", {}, h("div", { class: "media" },
    h("video", { controls: true, muted: true, playsinline: true, preload: "metadata", src: post.assets[role].url, "aria-label": name })),
  h("figcaption", {}, h("b", {}, name)))))
}

// MARK: Photos

function photoSection(photo, facts, index, number) {
  const variants = Object.entries(photo)
  const source = facts && ["source", {
    Format: facts.format, Size: size(facts.display), Rotation: turn(facts.transform), Bytes: bytes(facts.bytes),
    Colour: `${facts.profile ?? "sRGB"}, ${facts.bits} bits`, Identifies: identifies(facts.identifying),
  }]
  const columns = [source, ...variants.map(([role, asset]) => [role, {
    Format: asset.type.replace("image/", ""), Size: size(asset), Rotation: "none", Bytes: bytes(asset.bytes), Colour: "sRGB, 8 bits",
    Identifies: "nothing",
  }])].filter(Boolean)
  const shown = photo["photo.small"] ?? photo["photo.medium"] ?? variants[0]?.[1]
  return section(number > 1 ? `Photo ${index + 1}` : "Photo", h("div", { class: "beside" }, shown && picture(shown, { alt: `Photo ${index + 1}` }),
    columns.length > 0 && table({ caption: `Photo ${index + 1}: the source beside its variants`, rows: Object.keys(columns[0][1]), columns: [
      { title: "Property", cell: name => name }, ...columns.map(([title, values]) => ({ title, cell: name => values[name] }))] })))
}

// MARK: All files

function outputs(files) {
  return table({ caption: "All media files of the post", rows: files, empty: "There are no outputs yet.", columns: [
    { title: "Role", cell: file => h("code", {}, file.name) },
    { title: "Type", cell: file => file.asset.type },
    { title: "Size", cell: file => size(file.asset) },
    { title: "Duration", numeric: true, cell: file => file.asset.duration ? `${file.asset.duration.toFixed(2)} s` : null },
    { title: "Rate", numeric: true, cell: file => file.asset.duration ? bits(file.asset.bytes, file.asset.duration) : null },
    { title: "Bytes", numeric: true, cell: file => bytes(file.asset.bytes) },
    { title: "File", cell: ({ name, asset }) => h("span", { class: "row" },
      h("a", { href: asset.url, target: "_blank", rel: "noopener", "aria-label": `Open ${name}` }, "open"),
      h("a", { href: `${asset.url}${asset.url.includes("?") ? "&" : "?"}download=1`, "aria-label": `Download ${name}` }, "download")) },
  ] })
}
