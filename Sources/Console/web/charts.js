// Charts of SVG, drawn from data: lines and stacked bars over time, a waterfall of stages, a spark, the pulse of a worker, a meter.
// Each function returns an element with a method `update`, which draws other data in the same place and keeps the focus.
// A chart over time reads its values at a pointer, or at the arrow keys, and has them as a table for screen readers.

import { bytes, count, h, seconds, show, svg } from "./ui.js"

const units = { count: number => count(Math.round(number * 10) / 10), seconds, bytes }
const short = { ...units, seconds: number => number < 10 ? `${+number.toFixed(3)} s` : seconds(number) }
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
const exact = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" })
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" })
const dashes = [null, "7 4", "2 4", "10 3 2 3"]
const colour = (series, index) => `var(--chart-${series.colour ?? index % 6 + 1})`
const between = (low, value, high) => Math.max(low, Math.min(value, high))
const say = (element, text) => { if (element.textContent !== text) element.textContent = text }
const name = (element, text) => { if (element.getAttribute("aria-label") !== text) element.setAttribute("aria-label", text) }

// MARK: Axes

const rungs = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** Few round numbers from zero to the first one that is not below `top`. */
function ticks(top, unit = "count", most = 4) {
  const end = Math.max(top, unit === "bytes" ? 1024 : unit === "seconds" ? 0.1 : 1)
  const rough = end / most
  const power = 10 ** Math.floor(Math.log10(rough))
  let step = power * ([1, 2, 5].find(each => each * power >= rough * 0.999) ?? 10)
  if (unit === "count") step = Math.max(1, step)
  if (unit === "seconds" && rough > 1) step = rungs.find(each => each >= rough) ?? Math.ceil(rough / 86_400) * 86_400
  if (unit === "bytes") step = 2 ** Math.ceil(Math.log2(rough))
  return Array.from({ length: Math.ceil(end / step - 1e-9) + 1 }, (_, index) => index * step)
}

/** Round times of the local clock within a span of milliseconds. */
function timeTicks(from, to, most = 6) {
  const length = (to - from) / 1000
  const step = 1000 * (rungs.find(each => each >= 5 && length / each <= most) ?? 86_400 * Math.ceil(length / 86_400 / most))
  const zone = new Date(from).getTimezoneOffset() * 60_000
  const first = Math.ceil((from - zone) / step) * step + zone
  const format = step >= 86_400_000 ? day : step < 60_000 ? exact : clock
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step)
    .map(at => ({ at, text: format.format(at) }))
}

/** A picture that is drawn again when its width changes. `draw(width)` returns `[height, content]`. */
function picture(attributes, draw) {
  const content = svg("g")
  const element = svg("svg", { class: "chart", role: "img", ...attributes }, content)
  let known = 0
  element.draw = () => {
    const width = Math.round(element.getBoundingClientRect().width)
    if (!width) return
    known = width
    const [height, drawn] = draw(width)
    element.setAttribute("viewBox", `0 0 ${width} ${height}`)
    element.setAttribute("height", height)
    show(content, drawn)
  }
  new ResizeObserver(() => Math.round(element.getBoundingClientRect().width) !== known && element.draw()).observe(element)
  return element
}

// MARK: Charts over time

/** Lines over time. `options`: `label` (the essence, for screen readers), `series` [{name, points: [[milliseconds, value]], colour?}],
 *  `from`, `to`, `unit` (count, seconds, bytes), `height`, `gap` (milliseconds after which a line breaks), `empty` (words). */
export const lines = options => plot(options, {
  highest: ({ series }) => series.reduce((top, { points }) => points.reduce((most, [, value]) => Math.max(most, value ?? 0), top), 0),
  sample: (_, index) => svg("path", { d: "M0 5h18", fill: "none", "stroke-width": 2.5, "stroke-dasharray": dashes[index % 4] }),
  marks({ series, gap = Infinity }, { x, y, bottom }) {
    return series.map((each, index) => {
      const path = run => run.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L")
      const parts = runs(each.points, gap).map(run => ({ run, path: path(run) }))
      const line = parts.map(({ run, path }) => `M${path}${run.length < 2 ? "h.1" : ""}`).join("")
      const area = parts.map(({ run, path }) => `M${path}V${bottom}H${x(run[0][0]).toFixed(1)}Z`).join("")
      return [series.length === 1 && svg("path", { d: area, "fill-opacity": 0.14, style: { fill: colour(each, index) } }),
        svg("path", { d: line, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", "stroke-linecap": "round",
          "stroke-dasharray": dashes[index % 4], style: { stroke: colour(each, index) } })]
    })
  },
  cursor: ({ series }, at, { x, y, top, bottom }) => [svg("path", { d: `M${x(at)} ${top}V${bottom}`, style: { stroke: "var(--quiet)" } }),
    series.map((each, index) => ({ index, each, value: valueAt(each, at) })).filter(({ value }) => value !== null)
      .map(({ index, each, value }) => svg("circle", { cx: x(at), cy: y(value), r: 4, style: { fill: colour(each, index) } }))],
})

/** Bars over time, stacked. `options` as in `lines`, and `step`, the milliseconds of a bar, which begins at its time. */
export const bars = options => plot(options, {
  highest({ series }) {
    const sums = new Map()
    for (const { points } of series) for (const [at, value] of points) sums.set(at, (sums.get(at) ?? 0) + value)
    return Math.max(0, ...sums.values())
  },
  sample: () => svg("rect", { x: 3, width: 12, height: 10, rx: 2 }),
  marks({ series, step }, { x, y }) {
    const sums = new Map()
    return series.map((each, index) => each.points.filter(([, value]) => value > 0).map(([at, value]) => {
      const below = sums.get(at) ?? 0
      sums.set(at, below + value)
      const height = Math.max(1, y(below) - y(below + value))
      return svg("rect", { x: x(at) + 0.75, y: y(below) - height, width: Math.max(1, x(at + step) - x(at) - 1.5), height,
        style: { fill: colour(each, index) } })
    }))
  },
  cursor: ({ step }, at, { x, top, bottom }) => svg("rect", { x: x(at), y: top, width: x(at + step) - x(at), height: bottom - top,
    "fill-opacity": 0.16, style: { fill: "var(--text)" } }),
})

/** The parts of a line between its gaps. */
function runs(points, gap) {
  const all = []
  let last = -Infinity
  for (const point of points) {
    if (point[1] === null) { last = -Infinity; continue }
    if (point[0] - last > gap || last === -Infinity) all.push([])
    all.at(-1).push(point)
    last = point[0]
  }
  return all
}

const valueAt = (series, at) => series.points.find(point => point[0] === at)?.[1] ?? null
const places = ({ series, from, to }) => [...new Set(series.flatMap(each => each.points.map(point => point[0])))]
  .filter(at => at >= from && at <= to).sort((a, b) => a - b)

function plot(options, kind) {
  let shown = options, cursor = null, tabled = 0, scale = null
  const legend = h("ul", { class: "legend" }), said = h("output", { class: "reading" }), rows = h("div", { class: "unseen" })
  const chart = picture({ tabindex: "0", "aria-keyshortcuts": "ArrowLeft ArrowRight PageUp PageDown Home End Escape" }, draw)
  const element = h("figure", { class: "plot" }, legend, chart, said, rows)

  function draw(width) {
    const { series, from, to, unit = "count", height = 170, empty = "Nothing yet." } = shown
    const levels = ticks(kind.highest(shown), unit)
    const texts = levels.map(level => level ? short[unit](level) : "0")
    const left = 12 + 6.6 * Math.max(...texts.map(text => text.length)), right = width - 8, top = 8, bottom = height - 22
    const x = at => left + (at - from) / (to - from || 1) * (right - left)
    const y = value => bottom - value / levels.at(-1) * (bottom - top)
    scale = { x, y, top, bottom, at: place => from + (place - left) / (right - left) * (to - from) }
    return [height, [
      levels.map((level, index) => [svg("path", { d: `M${left} ${y(level).toFixed(1)}H${right}`, style: { stroke: "var(--line)" } }),
        svg("text", { x: left - 6, y: y(level) + 4, "text-anchor": "end" }, texts[index])]),
      timeTicks(from, to, between(2, Math.floor(width / 90), 7)).map(({ at, text }) =>
        svg("text", { x: between(left + 16, x(at), right - 20), y: height - 5, "text-anchor": "middle" }, text)),
      kind.marks(shown, scale), cursor !== null && kind.cursor(shown, cursor, scale),
      !series.some(({ points }) => points.length) && svg("text", { x: (left + right) / 2, y: height / 2 - 8, "text-anchor": "middle" }, empty),
    ]]
  }

  function point(at) {
    cursor = at
    chart.draw()
    report()
  }

  function report() {
    const { series, unit = "count", step } = shown
    const values = series.map(each => [each.name, valueAt(each, cursor)]).filter(([, value]) => value !== null)
    const text = values.map(([title, value]) => `${title} ${units[unit](value)}`).join(", ")
    say(said, cursor === null ? "" : `${(step >= 60_000 ? clock : exact).format(cursor)}: ${text || "nothing"}`)
  }

  function nearest(at) {
    return places(shown).reduce((best, each) => best === null || Math.abs(each - at) < Math.abs(best - at) ? each : best, null)
  }

  function tabulate() {
    const { series, unit = "count", label } = shown
    const all = places(shown), thin = Math.ceil(all.length / 60)
    tabled = Date.now()
    const heads = ["Time", ...series.map(each => each.name)]
    const cell = value => h("td", {}, value === null ? "–" : units[unit](value))
    show(rows, h("table", {}, h("caption", {}, label), h("tr", {}, heads.map(each => h("th", { scope: "col" }, each))),
      all.filter((_, index) => (all.length - 1 - index) % thin === 0)
        .map(at => h("tr", {}, h("th", { scope: "row" }, clock.format(at)), series.map(each => cell(valueAt(each, at)))))))
  }

  chart.addEventListener("keydown", event => {
    const all = places(shown)
    const here = cursor === null ? all.length : all.indexOf(nearest(cursor)), leap = Math.max(2, Math.round(all.length / 10))
    const moves = { ArrowLeft: here - 1, ArrowRight: here + 1, PageUp: here - leap, PageDown: here + leap, Home: 0, End: all.length, Escape: null }
    const next = moves[event.key]
    if (next === undefined || !all.length) return
    event.preventDefault()
    point(next === null ? null : all[between(0, next, all.length - 1)])
  })
  const follow = event => scale && point(nearest(scale.at(event.clientX - chart.getBoundingClientRect().left) - (shown.step ?? 0) / 2))
  chart.addEventListener("pointermove", follow)
  chart.addEventListener("pointerdown", follow)
  chart.addEventListener("pointerleave", () => chart.matches(":focus-visible") || point(null))
  chart.addEventListener("blur", () => point(null))

  element.update = next => {
    const isOther = !tabled || next.series.map(each => each.name).join() !== shown.series.map(each => each.name).join()
    shown = next
    if (cursor !== null && cursor < shown.from) cursor = null
    name(chart, shown.label)
    if (isOther) {
      show(legend, shown.series.map((each, index) => h("li", {}, svg("svg", { viewBox: "0 0 18 10", "aria-hidden": "true",
        style: { fill: colour(each, index), stroke: colour(each, index) } }, kind.sample(each, index)), each.name)))
    }
    if (isOther || Date.now() - tabled > 30_000) tabulate()
    chart.draw()
    report()
  }
  element.update(options)
  return element
}

// MARK: Others

const stages = ["fetch", "probe", "compose", "photo", "publish", "commit"]

/** The stages of an attempt, one after the other. `options`: `label`, `groups` [{name, note, stages: [{name, seconds}]}]; each group
 *  has a scale of its own. */
export function waterfall(options) {
  let shown = options
  const chart = picture({}, width => {
    let y = 0
    const drawn = shown.groups.map(group => {
      const total = group.stages.reduce((sum, each) => sum + each.seconds, 0), room = width - 74 - 62
      let passed = 0
      const title = [svg("text", { y: y + 14, class: "strong" }, group.name),
        svg("text", { x: width, y: y + 14, "text-anchor": "end" }, group.note)]
      y += 22
      const lanes = group.stages.map(each => {
        const x = 74 + passed / (total || 1) * room, wide = Math.max(2, each.seconds / (total || 1) * room), line = y
        passed += each.seconds
        y += 18
        const bar = (x, width, fill) => svg("rect", { x, y: line + 3, width, height: 10, rx: 3, style: { fill } })
        return [svg("text", { y: line + 12 }, each.name), bar(74, room, "var(--sunk)"),
          bar(x, wide, colour({}, Math.max(0, stages.indexOf(each.name)))),
          svg("text", { x: width, y: line + 12, "text-anchor": "end" }, short.seconds(each.seconds))]
      })
      y += 12
      return [title, lanes]
    })
    return [Math.max(1, y - 12), drawn]
  })
  const rows = h("ul", { class: "unseen" })
  const element = h("figure", { class: "plot" }, chart, rows)
  element.update = next => {
    shown = next
    name(chart, shown.label)
    const list = group => group.stages.map(each => `${each.name} ${seconds(each.seconds)}`).join(", ")
    const texts = shown.groups.map(group => `${group.name}, ${group.note}: ${list(group)}`)
    if (rows.children.length !== texts.length) show(rows, texts.map(() => h("li")))
    texts.forEach((text, index) => say(rows.children[index], text))
    chart.draw()
  }
  element.update(options)
  return element
}

/** A line without axes, beside a number that says the same. */
export function spark(values = []) {
  const path = svg("path", { fill: "none", "stroke-width": 2, "stroke-linejoin": "round", "vector-effect": "non-scaling-stroke",
    style: { stroke: "var(--chart-1)" } })
  const element = svg("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" }, path)
  element.update = next => {
    const top = Math.max(1, ...next)
    const place = (value, index) => `${(index / (next.length - 1 || 1) * 100).toFixed(1)} ${(22 - value / top * 20).toFixed(1)}`
    path.setAttribute("d", next.length ? `M${next.map(place).join("L")}` : "")
  }
  element.update(values)
  return element
}

/** The age of a heartbeat against the lease, as a ring that fills. `options`: `age`, `lease` (seconds), `isAlive`. */
export function pulse(options) {
  const ring = svg("circle", { cx: 16, cy: 16, r: 13, fill: "none", "stroke-width": 4, pathLength: 100, transform: "rotate(-90 16 16)" })
  const core = svg("circle", { cx: 16, cy: 16, r: 5 })
  const element = svg("svg", { class: "pulse", viewBox: "0 0 32 32", role: "img" },
    svg("circle", { cx: 16, cy: 16, r: 13, fill: "none", "stroke-width": 4, style: { stroke: "var(--line)" } }), ring, core)
  element.update = ({ age, lease = 30, isAlive = true }) => {
    const tone = `var(--${!isAlive ? "bad" : age > lease * 0.6 ? "wait" : "good"})`
    ring.setAttribute("stroke-dasharray", `${Math.min(100, age / lease * 100).toFixed(1)} 100`)
    ring.style.setProperty("stroke", tone)
    core.style.setProperty("fill", tone)
    name(element, `${isAlive ? "alive" : "silent"}: the last heartbeat was ${seconds(age)} ago; the lease is ${seconds(lease)}`)
  }
  element.update(options)
  return element
}

/** A bar that shows a share of one, beside words that say it. `tone`: good, busy, wait or bad. */
export function meter(share = 0, tone = "busy") {
  const filled = h("i")
  const element = h("div", { class: "meter", "aria-hidden": "true" }, filled)
  element.update = (next, other = "busy") => {
    filled.style.setProperty("width", `${between(0, next * 100, 100)}%`)
    filled.style.setProperty("background", `var(--${other})`)
  }
  element.update(share, tone)
  return element
}
