// The composition of moments: the canvas, and where both clips lie on it.

/** The composition of the built-in definition, for a sign-in that may not read the definitions. */
export const standard = {
  canvas: { width: 1080, height: 1920, frames_per_second: 30, fit: "crop", color: "#000000" },
  composed: { layout: "inset", inset: { width: 0.3, corner: "top-left", margin: 36, radius: 36 }, seconds: [4.5, 5.034] },
}

const compositions = new WeakMap()

/** The canvas and the layout of moments, once for a session. */
export function compositionOf(app) {
  if (!app?.session?.can("admin")) return Promise.resolve(standard)
  if (!compositions.has(app.session)) {
    compositions.set(app.session, app.api.get("/v1/operations/definitions").then(readComposition).catch(() => standard))
  }
  return compositions.get(app.session)
}

function readComposition({ items }) {
  const found = items.find(each => each.name === "take5-post")
  if (!found?.outputs?.composed) return standard
  return { canvas: { ...standard.canvas, ...found.canvas }, composed: { ...standard.composed, ...found.outputs.composed } }
}

/** Where both clips lie, as shares of the canvas. `shape`: the width of the foreground's frames divided by their height. */
export function placesOf({ canvas, composed: { layout, inset } }, shape) {
  const whole = { x: 0, y: 0, width: 1, height: 1, radius: 0 }
  if (layout === "side-by-side") return { foreground: { ...whole, width: 0.5 }, background: { ...whole, x: 0.5, width: 0.5 } }
  if (layout === "stacked") return { foreground: { ...whole, height: 0.5 }, background: { ...whole, y: 0.5, height: 0.5 } }
  const box = { width: canvas.width * inset.width, height: canvas.height * inset.width }
  const height = canvas.fit === "fit" ? Math.min(box.height, box.width / shape) : box.height
  const width = canvas.fit === "fit" ? height * shape : box.width
  const x = inset.corner.endsWith("left") ? inset.margin : canvas.width - width - inset.margin
  const y = inset.corner.startsWith("top") ? inset.margin : canvas.height - height - inset.margin
  return {
    background: whole,
    foreground: {
      x: x / canvas.width, y: y / canvas.height, width: width / canvas.width, height: height / canvas.height, radius: inset.radius / canvas.width,
      border: inset.border && { width: inset.border.width / canvas.width, color: inset.border.color },
    },
  }
}
