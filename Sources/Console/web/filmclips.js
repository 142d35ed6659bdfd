// The clips of /film: a person films or chooses one with each camera.

import { $, cameras, prefersStillness, tileOf, write } from "./filmpage.js"

/** The chosen file of each camera. */
export const clips = { front: null, back: null }

/** Takes a clip, and plays it where it was chosen; null removes it. */
export function choose(camera, file) {
  const [tile, video] = [tileOf(camera), tileOf(camera).querySelector("video")]
  if (video.src) URL.revokeObjectURL(video.src)
  clips[camera] = file
  tile.dataset.state = file ? "chosen" : ""
  tile.classList.remove("unplayable")
  describe(camera)
  if (file) {
    video.src = URL.createObjectURL(file)
    if (!prefersStillness()) video.play().catch(() => {})
  } else {
    video.removeAttribute("src")
    video.load()
  }
  $("send").disabled = !cameras.every(each => clips[each])
}

/** Bytes in megabytes. */
export const megabytes = bytes => (bytes / 1e6).toFixed(1)

/** Whether the browser knows that a file is no video. */
const isOther = file => file.type !== "" && !file.type.startsWith("video/")

function describe(camera, seconds) {
  const hint = tileOf(camera).querySelector(".hint")
  const file = clips[camera]
  const size = file && (isOther(file) ? "This is not a video" : file.size === 0 ? "The file is empty" : seconds ? `${seconds.toFixed(1)} s`
    : file.size < 1e5 ? `${Math.ceil(file.size / 1000)} kB` : `${megabytes(file.size)} MB`)
  tileOf(camera).classList.toggle("warned", Boolean(file) && (isOther(file) || !file.size))
  write(hint, size ? `${size} · film again` : hint.dataset.empty)
}

for (const camera of cameras) {
  const [input, video] = [$(`${camera}-file`), tileOf(camera).querySelector("video")]
  input.addEventListener("change", () => {
    const file = input.files[0]
    // Who leaves the camera without a clip keeps the one before; the same file may be chosen again.
    if (file) choose(camera, file)
    input.value = ""
  })
  video.addEventListener("loadedmetadata", () => describe(camera, Number.isFinite(video.duration) ? video.duration : null))
  video.addEventListener("error", () => { if (clips[camera]) tileOf(camera).classList.add("unplayable") })
}

let films = true
$("library").addEventListener("click", () => {
  films = !films
  for (const [camera, side] of [["front", "user"], ["back", "environment"]]) {
    if (films) $(`${camera}-file`).setAttribute("capture", side)
    else $(`${camera}-file`).removeAttribute("capture")
  }
  write($("library"), films ? "Choose existing clips" : "Film with the camera instead")
})
