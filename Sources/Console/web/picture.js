// Pictures, with the colours of their ThumbHash until they have loaded.

import { pictureOfThumbhash } from "/client.js"
import { h } from "./ui.js"

/** An image of an asset: its place is kept, and its ThumbHash fills it until it has loaded. */
export function picture(asset, { alt = "" } = {}) {
  const image = h("img", { class: "picture", alt, width: asset.width, height: asset.height, loading: "lazy", decoding: "async", src: asset.url })
  const canvas = asset.thumbhash && canvasOf(asset.thumbhash)
  if (asset.color) image.style.setProperty("background-color", asset.color)
  if (!canvas) return image
  image.style.setProperty("background-image", `url(${canvas.toDataURL()})`)
  image.addEventListener("load", () => image.style.removeProperty("background-image"), { once: true })
  return image
}

/** The colours of a ThumbHash on a canvas; null if it cannot be read. */
export function canvasOf(thumbhash) {
  try {
    const { width, height, rgba } = pictureOfThumbhash(thumbhash)
    const canvas = h("canvas", { class: "thumbhash", width, height, "aria-hidden": "true" })
    canvas.getContext("2d").putImageData(new ImageData(rgba, width, height), 0, 0)
    return canvas
  } catch {
    return null
  }
}
