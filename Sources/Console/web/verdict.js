// Shows a verdict in plain words: the outcome, each reason with what helps, warnings, how the clips were aligned, every decision,
// and what each input is. It also shows why a post has no media to see, and why the service refuses a request.

import { reasonWords } from "./glance.js"
import { badge, bytes, count, counted, exactly, facts, h, icon, percent, problem } from "./ui.js"

const warnings = {
  black_video: "All frames are black", frozen_video: "All frames are the same", silent_sound: "The sound is silent",
  damaged_sound: "Parts of the sound are damaged",
  unsupported_sound: "The sound cannot be decoded", not_one_moment: "The clips may not be of one moment",
  not_aligned: "The composed clips are not in step",
}

const subjects = {
  video_stream: "Video", audio_stream: "Sound", unused_streams: "Other streams", transform: "Orientation", deinterlacing: "Interlacing",
  layout: "Layout", scaling: "Scaling",
  alignment: "Alignment", time_grid: "Frames", audio: "Sound of the composition", clip: "Playable clip", color: "Colour", privacy: "Privacy",
}

const statuses = {
  failed: "The media could not be processed, for a cause of the service and not of the media. The job says which; it can be retried.",
  held: "The media are ready. Only the author sees them until a moderator decides.",
  hidden: "A moderator has hidden the post: only its author sees it.",
}

/** The verdict of a job as an element; without the outcome and its reasons where they stand already. */
export function verdict(verdict, { hasReasons = true } = {}) {
  const isAccepted = verdict.verdict === "accepted"
  return h("div", { class: "verdict" },
    hasReasons && h("p", { class: "row" }, badge(verdict.verdict),
      isAccepted ? "The media are sound." : `The media cannot be used, for ${counted(verdict.reasons.length, "reason")}.`),
    hasReasons && findings(verdict.reasons, "bad"), findings(verdict.warnings, "wait"), moment(verdict.moment), decisions(verdict.decisions), inputs(verdict))
}

/** Why a post shows no media, or not to all: the reasons of a rejection or what its status means; null if there is nothing to say. */
export function reasonsOf(post) {
  if (post.status === "rejected") return findings(post.reasons, "bad")
  return statuses[post.status] ? h("p", { class: "finding-note" }, statuses[post.status]) : null
}

/** Why the service refuses a request: the reasons of a verdict if the problem has them, otherwise the problem. */
export function refusal(error) {
  const found = error.reasons ?? error.body?.reasons ?? []
  if (!found.length) return problem(error)
  return h("div", { role: "alert" }, h("p", {}, h("strong", {}, "The service refuses the submission"), ". Nothing was stored."),
    findings(found, "bad"))
}

function findings(list, tone) {
  if (!list?.length) return null
  return h("ul", { class: "findings", "aria-label": tone === "bad" ? "Reasons" : "Warnings" }, list.map(each => {
    const [finding, remedy] = sentences(each.detail)
    return h("li", { class: tone }, icon("warning"), h("div", {},
      h("strong", {}, tone === "bad" ? reasonWords(each.code) : warnings[each.code] ?? each.code), " ", h("span", { class: "quiet" }, placeOf(each)),
      h("p", {}, finding), remedy && h("p", { class: "remedy" }, h("b", {}, "What helps: "), remedy),
      h("code", { class: "quiet" }, each.code)))
  }))
}

/** A detail is one or two sentences: what was found and, as the last one, what helps. */
function sentences(detail) {
  const parts = /^(.*\.)\s+(\p{Lu}[^.]*\.)$/su.exec(detail)
  return parts ? [parts[1], parts[2]] : [detail, null]
}

function inputName(name, photo) {
  if (!name) return null
  if (name === "photo") return photo === undefined ? "photo" : `photo ${photo + 1}`
  return name === "clip" ? "clip" : `${name} clip`
}

function placeOf({ input, photo, seconds, byte_offset: offset }) {
  return [inputName(input, photo), seconds !== undefined && seconds !== null && `at ${seconds.toFixed(2)} s`,
    offset !== undefined && offset !== null && `at byte ${count(offset)}`].filter(Boolean).join(", ")
}

function moment(report) {
  if (!report) return null
  const { offset_seconds: offset, confidence, recorded_difference: difference, sound } = report
  const milliseconds = Math.round(Math.abs(offset ?? 0) * 1000)
  const words = offset === undefined || offset === null ? "The sound of the clips shows no offset between them"
    : milliseconds === 0 ? "A sound is at the same time in both clips"
    : `A sound comes ${count(milliseconds)} ms later in the ${offset > 0 ? "front" : "back"} clip`
  const recorded = difference === undefined || difference === null ? "" : ` Their times of recording are ${Math.abs(difference).toFixed(1)} s apart.`
  return h("p", {}, h("strong", {}, "One moment. "), `${words} (confidence ${percent(confidence)}).${recorded}${sound ? ` The foreground is silent: the composition has the sound of the ${sound} clip.` : ""}`)
}

function decisions(list) {
  if (!list?.length) return null
  return h("section", { "aria-label": "Decisions" }, h("h3", {}, `${counted(list.length, "decision")}, each with its reason`),
    h("ul", { class: "decisions" }, list.map(each => h("li", {},
      h("span", { class: "decision-subject" }, subjects[each.subject] ?? each.subject.replaceAll("_", " "),
        each.input && h("small", {}, inputName(each.input))),
      h("span", {}, h("strong", {}, each.choice), h("span", { class: "quiet" }, ` ${each.reason}`))))))
}

function inputs({ inputs, photos }) {
  const clips = Object.entries(inputs ?? {}).map(([name, report]) => [inputName(name), clipFacts(report)])
  const all = [...clips, ...(photos ?? []).map((photo, index) => [`photo ${index + 1}`, photoFacts(photo)])]
  if (!all.length) return null
  return h("details", { class: "verdict-inputs" }, h("summary", {}, "What the files are"),
    all.map(([name, pairs]) => [h("h3", {}, name), facts(pairs)]))
}

function clipFacts({ facts, frames, decoded_seconds: decoded }) {
  const { container, bytes: length, recorded, video, audio, identifying, unused_streams: unused } = facts
  return {
    File: `${container.toUpperCase()}, ${bytes(length)}`,
    Video: [joined(video.codec, video.profile), sizeOf(video.display),
      video.frames_per_second && `${video.frames_per_second.toFixed(2)} frames per second`, video.pixel_format,
      transformOf(video.transform), video.is_interlaced && "interlaced"].filter(Boolean).join(", "),
    Decoded: frames === undefined ? null : `${counted(frames, "frame")}${decoded === undefined ? "" : ` in ${decoded.toFixed(2)} s`}`,
    Sound: audio ? [joined(audio.codec, audio.profile), `${count(audio.sample_rate)} Hz`, counted(audio.channels, "channel")].join(", ") : "none",
    Colour: [video.color.matrix, video.color.transfer, `range ${video.color.range}`, video.dynamic_range.toUpperCase()].join(", "),
    Recorded: recorded ? exactly(new Date(recorded * 1000).toISOString()) : null,
    Identifies: identified(identifying),
    "Not used": unused?.length ? unused.join(", ") : null,
  }
}

function photoFacts(photo) {
  return {
    File: `${photo.format.toUpperCase()}, ${bytes(photo.bytes)}`,
    Picture: [sizeOf(photo.display), `${photo.bits} bits`, photo.model, transformOf(photo.transform), photo.has_alpha && "transparent in parts",
      photo.is_animated && "animated"].filter(Boolean).join(", "),
    Colour: `${photo.profile ?? "sRGB"}, ${photo.dynamic_range.toUpperCase()}`,
    Identifies: identified(photo.identifying),
  }
}

/** The metadata that the outputs do not have any more. */
function identified(entries) {
  if (!entries?.length) return "nothing"
  const kinds = [...new Set(entries.map(each => each.kind))].join(", ")
  const number = entries.length === 1 ? "one entry" : `${entries.length} entries`
  return h("span", { title: entries.map(each => each.key).join(", ") }, `${kinds} (${number}, which no output has)`)
}

const joined = (...words) => words.filter(Boolean).join(" ")

const sizeOf = size => `${size.width} × ${size.height}`

function transformOf({ rotation, mirrored }) {
  return [mirrored && "mirrored", rotation && `rotated by ${rotation}°`].filter(Boolean).join(" and ")
}
