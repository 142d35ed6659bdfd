// The elements of the page /film.

export const $ = id => document.getElementById(id)
export const cameras = ["front", "back"]

/** The tile of a camera, which takes and shows its clip. */
export const tileOf = camera => document.querySelector(`.camera[data-camera="${camera}"]`)

/** Writes a text only if it differs, so that a screen reader says it once. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Whether the person prefers less motion. */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches
