// The definition that made a post: what it asks for in plain words, its JSON, and controls that try another layout.

import { InsetTool } from "./inset.js"
import { bytes, count, facts, h, problem, section, seconds, show, table } from "./ui.js"

export default async function (panel, { record, signal }) {
  const [definition, made] = await Promise.all([record.definition().catch(() => null), madeBy(record)])
  if (signal.aborted) return
  const tool = h("div", { class: "card empty" }, "Loading the clips…")
  const canTry = record.post.assets["clip.front"] && record.post.assets["clip.back"]
  show(panel, h("div", { class: "stack" }, canTry && tool, section("Made by", made), definition ? described(definition) : unknown(record)))
  if (canTry) await openTool(tool, record, definition, signal)
}

async function openTool(place, record, definition, signal) {
  try {
    const element = await new InsetTool(record, definition, signal).open()
    if (!signal.aborted) place.replaceWith(element)
  } catch (error) {
    if (!signal.aborted) show(place, problem(error))
  }
}

/** What the service says with the media about how they were made. */
async function madeBy(record) {
  const file = record.files[0]
  const head = file && await record.media.head(file.asset).catch(() => null)
  return [facts({
    Definition: h("code", {}, record.definitionName),
    Recipe: head?.recipe ? h("code", {}, head.recipe) : "not known",
  }), h("p", { class: "quiet" }, "The recipe is a hash of the definition, the plan and the versions of the libraries. ",
    "The same sources with the same recipe give the same bytes.")]
}

const unknown = record => section("The definition",
  h("p", {}, `This sign-in may not read definitions: ‘take5 definition show ${record.definitionName}’ prints it.`))

function described(definition) {
  const title = `${definition.name}, version ${definition.version}`
  return h("div", { class: "stack" },
    section(title, h("p", { class: "quiet" }, "As the service has it now. A post keeps the one with which it was submitted."),
      facts(summary(definition))),
    section("Outputs", definition.variants ? variants(definition.variants) : outputs(definition.outputs)),
    h("details", { class: "card" }, h("summary", {}, "JSON"), h("pre", {}, JSON.stringify(definition, null, 2))))
}

function summary({ inputs, limits, canvas, outputs, moment, window, moderation, look, deadline_seconds, attempts, keep_sources, photos }) {
  const composed = outputs?.composed
  const inset = composed?.layout === "inset" ? composed.inset : null
  return {
    Takes: inputs ? Object.keys(inputs).join(" and ") : `up to ${photos} photo${photos === 1 ? "" : "s"}`,
    Duration: limits.seconds ? `${limits.seconds[0]} to ${limits.seconds[1]} s, at most ${limits.difference_seconds} s apart` : null,
    "Largest file": bytes(limits.bytes),
    "Largest frame": `${count(limits.pixels)} pixels${limits.frames_per_second ? `, ${limits.frames_per_second} frames a second` : ""}`,
    Accepts: [limits.containers, limits.video_codecs, limits.audio_codecs, limits.formats].flat().filter(Boolean).join(", "),
    Canvas: canvas && `${canvas.width}×${canvas.height}, ${canvas.frames_per_second} a second, ${canvas.fit === "fit" ? "whole" : "cropped"} frames`,
    Layout: inset ? `inset of ${Math.round(inset.width * 100)} % ${inset.corner}, margin ${inset.margin}, radius ${inset.radius}` : composed?.layout,
    Sound: composed ? `of the ${composed.audio}` : null,
    Alignment: composed ? moment?.align === false ? "none" : "by the sounds of both clips" : null,
    "In doubt": composed ? moment?.doubt === "refuse" ? "refused" : "accepted with a warning" : null,
    "Daily window": window ? Object.entries(window).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ") : null,
    "First look": look === "none" ? "none" : look === "viewers" ? "for all who see the post" : "for the author",
    Moderation: moderation === "hold" ? "held until a decision" : "none",
    Attempts: `${attempts}, each for at most ${seconds(deadline_seconds)}`,
    Sources: keep_sources ? "kept for making outputs again" : "given up once the outputs exist",
  }
}

const coding = video => video ? `${video.codec} ${video.preset}, crf ${video.crf}` : null

function outputs(all) {
  return table({ caption: "Outputs of the definition", rows: Object.entries(all), columns: [
    { title: "Role", cell: ([role]) => h("code", {}, role) },
    { title: "From", cell: ([, { from, at, mode }]) => from ? from + (at === undefined ? "" : ` at ${at} s`) : mode ?? "both clips" },
    { title: "Longer edge", numeric: true, cell: ([, output]) => output.long_edge ? count(output.long_edge) : null },
    { title: "Coding", cell: ([, output]) => coding(output.video) ?? (output.quality ? `quality ${output.quality}` : null) },
    { title: "Time", cell: ([, output]) => time(output) },
  ] })
}

function time({ seconds, frames_per_second: rate }) {
  const length = Array.isArray(seconds) ? `${seconds[0]} to ${seconds[1]} s` : seconds && `${seconds} s`
  return [length, rate && `${rate} frames a second`].filter(Boolean).join(", ") || null
}

function variants(all) {
  return table({ caption: "Variants of each photo", rows: Object.entries(all), columns: [
    { title: "Role", cell: ([role]) => h("code", {}, role) },
    { title: "Size", cell: ([, variant]) => variant.square ? `square of ${variant.square}` : `longer edge ${count(variant.long_edge)}` },
    { title: "Quality", numeric: true, cell: ([, variant]) => String(variant.quality) },
    { title: "Format", cell: ([, variant]) => variant.format ?? "jpeg" },
    { title: "At most", numeric: true, cell: ([, variant]) => variant.most_bytes ? bytes(variant.most_bytes) : null },
  ] })
}
