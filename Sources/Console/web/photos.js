// Photos as a strip.

import { labelOf, pictures } from "./glance.js"
import { picture } from "./picture.js"
import { clamped, h, icon, prefersStillness } from "./ui.js"

/** The sets of variants of a post's photos. */
export function setsOf({ photos = [], assets = {} }) {
  if (photos.length) return photos.filter(set => Object.keys(set).length)
  return Object.keys(assets).some(role => role.startsWith("photo.")) ? [assets] : []
}

/** Photos as a strip that arrow keys, buttons and a swipe move. */
export function photos(post) {
  const sets = setsOf(post)
  const words = post.alternative_text ?? post.caption ?? post.title
  const figures = sets.map((set, index) => {
    const variants = pictures.strip.filter(role => set[role]).map(role => set[role])
    const part = sets.length > 1 ? `photo ${index + 1} of ${sets.length}` : `photo by ${post.author}`
    const image = picture(variants[0], { alt: words ? `${words} (${part})` : part[0].toUpperCase() + part.slice(1) })
    const widths = variants.filter(each => each.width && !(each.width === each.height && each.width <= 150))
    if (widths.length > 1) {
      image.srcset = widths.map(each => `${each.url} ${each.width}w`).join(", ")
      image.sizes = "(max-width: 760px) 94vw, 640px"
    }
    return h("figure", { class: "photos-one" }, image)
  })
  const strip = h("div", { class: "photos-strip", tabindex: "0", role: "group", "aria-label": labelOf(post) }, figures)
  if (figures.length === 1) return h("div", { class: "photos" }, strip)

  let current = 0
  const place = h("span", { class: "photos-place", "aria-live": "polite" })
  const back = h("button", { class: "icon-button", "aria-label": "Photo before", onclick: () => go(current - 1) }, icon("back"))
  const next = h("button", { class: "icon-button", "aria-label": "Next photo", onclick: () => go(current + 1) }, icon("next"))
  const draw = () => {
    place.textContent = `${current + 1} of ${figures.length}`
    back.setAttribute("aria-disabled", `${current === 0}`)
    next.setAttribute("aria-disabled", `${current === figures.length - 1}`)
  }
  const go = index => {
    const left = figures[clamped(index, 0, figures.length - 1)].offsetLeft
    strip.scrollTo({ left, behavior: prefersStillness() ? "auto" : "smooth" })
  }
  strip.addEventListener("scroll", () => {
    const index = Math.round(strip.scrollLeft / Math.max(1, strip.clientWidth))
    if (index !== current) { current = index; draw() }
  }, { passive: true })
  strip.addEventListener("keydown", event => {
    const index = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: figures.length - 1 }[event.key]
    if (index === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    go(index)
  })
  draw()
  return h("div", { class: "photos" }, strip, h("div", { class: "photos-bar" }, back, place, next))
}
