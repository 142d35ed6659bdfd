// The store: what it holds, whether the disk becomes full, damaged files and what looks after them; and the runs that make outputs again.

import { arrange, lacking, part, tabs, utcTime, watch } from "./parts.js"
import { controlsOf, hasEnded, progressOf, selectionOf } from "./run.js"
import {
  action, badge, bytes, command, confirm, count, counted, facts, field, h, id as short, problem, seconds, section, show, storeNote, table, time,
} from "./ui.js"

const day = 86_400

export default async function (main, { app, query, signal }) {
  const tab = query.get("tab") ?? ""
  const body = h("div", { class: "stack" })
  show(main, h("h1", {}, "Store"), tabs(app, "store", tab, [["", "What it holds"], ["runs", "Reprocessing"]]), body)
  const missing = lacking(app, ["admin"])
  if (missing) return show(body, missing)
  if (tab === "runs") runs(body, app, signal)
  else content(body, app, signal)
}

// MARK: What it holds

const ages = { day: "of the last day", week: "of the last week", month: "of the last month", older: "older" }

function content(body, app, signal) {
  const held = h("div", { class: "stack" }, h("p", { class: "empty" }, "Loading…"))
  show(body, held, care())
  watch(app, 60, signal, held, async () => {
    const [store, { storage }] = await Promise.all([
      app.api.get("/v1/operations/store", {}, { signal, retries: 0 }), app.api.get("/v1/operations", {}, { signal, retries: 0 }),
    ])
    if (signal.aborted) return
    const roles = store.roles.toSorted((one, other) => other.bytes - one.bytes).map(({ role, bytes, assets }) => ({ name: role, bytes, number: assets }))
    const times = store.blobs.ages.map(({ age, bytes, count: number }) => ({ name: ages[age] ?? age, bytes, number }))
    const uses = h("p", { class: "quiet" }, "Uses of files: one file may have several, and counts in each.")
    show(held, numbers(store, storage), space(store, storage), h("div", { class: "grid store-grid" },
      section("By role", uses, bars("Uses of files by role", "Uses", roles)), section("By age", bars("Files by age", "Files", times))), damaged(store.damaged))
  })
}

const tile = (number, words, tone) => h("div", { class: "tile" }, h("b", { class: tone }, number), h("span", {}, words))

function numbers({ blobs, retired, rejected, damaged }, storage) {
  return h("div", { class: "tiles" },
    tile(bytes(blobs.bytes), `in ${counted(blobs.count, "file")}`),
    storage && tile(bytes(storage.free_bytes), "free"),
    tile(bytes(retired.bytes), `replaced, ${counted(retired.assets, "asset")}: go after their grace`),
    tile(bytes(rejected.bytes), `of rejected posts, ${counted(rejected.assets, "asset")}: kept to be judged again`),
    tile(count(damaged.length), "damaged", damaged.length ? "bad" : "good"))
}

/** The bytes of files that come in a day: the more of the last day's and the mean of the last week's; null on the first day, which says nothing
 *  of a whole one. */
function growth({ ages, first_at: first }) {
  const of = age => ages.find(row => row.age === age)?.bytes ?? 0
  const known = first ? (Date.now() - Date.parse(first)) / 1000 / day : 0
  return !first ? 0 : known < 1 ? null : Math.max(of("day"), (of("day") + of("week")) / Math.min(7, known))
}

/** A span of days as an estimate: about 5 days, about 3 weeks, about 8 months, about 2 years. */
function about(days) {
  const [name, size] = days < 21 ? ["day", 1] : days < 90 ? ["week", 7] : days < 700 ? ["month", 30.4] : ["year", 365]
  return days < 1 ? "less than a day" : `about ${counted(Math.round(days / size), name)}`
}

function space(store, storage) {
  if (!storage) return section("Space", h("p", {}, "The files are in a bucket, whose space this service does not know. ", grows(growth(store.blobs))))
  const { free_bytes: free, min_free_bytes: least } = storage
  const held = store.blobs.bytes
  const rate = growth(store.blobs)
  const left = Math.max(0, free - least)
  const days = rate ? left / rate : Infinity
  const tone = !left || days < 14 ? "bad" : days < 60 ? "wait" : "good"
  const says = !left ? "There is no room: submissions of media are refused until space is free."
    : rate === null ? "It is too early to say how fast the store grows: its first day has not passed."
    : days === Infinity ? "Nothing came in during the last week, so it does not fill up."
    : days > 3650 ? "At this rate it is not full within ten years."
    : `At this rate it takes ${about(days)} until submissions are refused.`
  const share = number => `${(100 * number / Math.max(1, held + free)).toFixed(2)}%`
  const words = `The store has ${bytes(held)}, ${bytes(left)} are left, ${bytes(least)} are kept free`
  const bar = h("div", { class: "space-bar", role: "img", "aria-label": words },
    h("span", { class: "busy", style: { width: share(held) } }), h("span", { class: tone, style: { width: share(left) } }),
    h("span", { class: "quiet", style: { width: share(Math.min(least, free)) } }))
  return section("Space", bar, h("p", { class: "space-words" },
    h("span", { class: "space-key busy" }, `${bytes(held)} of the store`), h("span", { class: `space-key ${tone}` }, `${bytes(left)} left`),
    h("span", { class: "space-key quiet" }, `${bytes(least)} that ‘--min-free’ keeps free`)),
  h("p", { class: tone === "good" ? null : `tone-${tone}` }, grows(rate), h("strong", {}, says)))
}

const grows = rate => rate ? `The store grows by about ${bytes(rate)} a day. ` : ""

/** Bytes by name as bars in a table. */
function bars(caption, unit, rows) {
  if (!rows.length) return h("p", { class: "empty" }, "The store is empty.")
  const most = Math.max(1, ...rows.map(row => row.bytes))
  const bar = row => h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: `${100 * row.bytes / most}%` } }))
  return h("table", { class: "bars" }, h("caption", { class: "unseen" }, caption),
    h("thead", { class: "unseen" }, h("tr", {}, ["Name", "Share", "Size", unit].map(title => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map(row => h("tr", {}, h("th", { scope: "row" }, row.name), h("td", {}, bar(row)),
      h("td", { class: "number" }, bytes(row.bytes)), h("td", { class: "number quiet" }, count(row.number))))))
}

function damaged(rows) {
  return section("Damaged files", rows.length > 0 && h("p", {}, "Workers make them again from their sources, if these are undamaged. ",
    "‘take5 verify --repair’ does the same at once; outputs without sources are only in a backup."),
  table({
    caption: "Damaged files", rows, empty: "None is known. Files are read again after they were served, and by ‘take5 verify’.", columns: [
      { title: "File", cell: row => short(row.hash) }, { title: "Damage", cell: row => h("span", { class: "badge bad" }, row.kind) },
      { title: "Found", cell: row => time(row.found_at) }, { title: "Attempts", numeric: true, cell: row => count(row.attempts) },
      { title: "Last error", cell: row => row.error },
    ],
  }))
}

const tasks = [
  ["Once a day, also while the service runs", [
    ["take5 gc --dry-run", "Says what the next command would remove."],
    ["take5 gc", "Removes sets that were replaced longer ago than their grace, files that nothing refers to, and what a killed process has left."],
    ["take5 verify", "Compares the rows with the files. Exit status 0: consistent; 1: findings, which are listed with their severity."],
    ["take5 backup /var/backups/take5", "Copies the database and the files that it names to a new folder, or brings an earlier backup up to date."],
  ]],
  ["When something is wrong", [
    ["take5 verify --deep", "Also reads each table from its first page to its last, decodes every media file and compares it with its row."],
    ["take5 verify --repair", "Makes damaged outputs again from their sources, and removes orphans. Only a backup has the files that are ‘lost’."],
    ["take5 restore /var/backups/take5 --data restored", "Makes a store of a backup in an empty folder, and verifies it."],
  ]],
]

const care = () => section("Look after it", tasks.map(([title, list]) => [
  h("h3", {}, title), h("ul", { class: "tasks" }, list.map(([line, text]) => h("li", {}, command(line), h("p", { class: "quiet" }, text)))),
]), storeNote())

// MARK: Reprocessing

function runs(body, app, signal) {
  const list = h("div", { class: "stack" }, h("p", { class: "empty" }, "Loading…"))
  const more = h("button", { class: "more", hidden: true, onclick: () => { limit = 100; read().catch(error => app.failed(error)) } }, "More")
  const shown = new Map()
  let limit = 20, turn = 0, isMoving = true
  const draw = run => {
    if (!shown.has(run.id)) shown.set(run.id, runCard(app, run, draw))
    shown.get(run.id).update(run)
  }
  const read = async () => {
    const { items, next } = await app.api.get("/v1/operations/runs", { limit }, { signal, retries: 0 })
    isMoving = items.some(run => !hasEnded(run) || run.items.started)
    items.forEach(draw)
    more.hidden = !next || limit === 100
    if (items.length) arrange(list, items.map(run => shown.get(run.id).element))
    else show(list, h("p", { class: "empty" }, "There was no run yet. The form below starts one."))
  }
  const words = "A run makes stored outputs again from their sources, when a definition changes or a library improves."
  show(body, section("Runs", h("p", { class: "quiet" }, words), list, more),
    part(app, signal, async () => {
      const { items } = await app.api.get("/v1/operations/definitions", {}, { signal })
      return form(app, items.filter(each => each.inputs || each.photos), read)
    }).element)
  // Runs that have ended do not move: their list is read less often.
  watch(app, 2, signal, list, async () => { if (isMoving || turn++ % 5 === 0) await read() })
}

function runCard(app, run, changed) {
  const progress = progressOf(run)
  const state = h("span"), controls = h("div", { class: "row" })
  const link = h("a", { href: app.address(`run/${run.id}`) }, selectionOf(run.selection))
  const element = h("article", { class: "run" }, h("div", { class: "row spread" }, h("div", { class: "row" }, state, link), controls), progress,
    h("p", { class: "quiet" }, "Began ", time(run.created_at), `, priority ${run.priority}`, run.rate ? `, at most ${run.rate} a second` : null))
  let last = null
  return {
    element,
    update(run) {
      progress.update(run)
      if (run.state === last) return
      last = run.state
      show(state, badge(run.state))
      show(controls, controlsOf(app, run, part => changed({ ...run, ...part })))
    },
  }
}

const kinds = ["take5", "photo", "marker", "reaction", "profile", "itinerary", "place"]

const boxes = (legend, name, options, chosen) => h("fieldset", {}, h("legend", {}, legend), h("div", { class: "row" }, options.map(option =>
  h("label", { class: "box" }, h("input", { type: "checkbox", name, value: option, checked: chosen.includes(option) }), option))))

function form(app, definitions, started) {
  const result = h("div", { role: "status" })
  const estimate = action(app, { label: "Estimate", class: "primary", scopes: ["admin"], run: async () => {
    if (!element.reportValidity()) return
    show(result, h("p", { class: "empty" }, "Counting…"))
    try {
      const request = requestOf(element)
      show(result, estimated(app, request, await send(request, true), send, done => { show(result); started(done) }))
    } catch (error) {
      show(result, problem(error))
    }
  } })
  const send = (request, isTrial) => app.api.post("/v1/operations/runs", { ...request, dry_run: isTrial })
  const element = h("form", { onsubmit: event => event.preventDefault(), oninput: () => show(result) },
    boxes("Kinds; none is all", "kinds", kinds, []), boxes("Items that are", "states", ["ready", "failed", "rejected"], ["ready"]),
    h("div", { class: "form-row" },
      field({
        label: "Made by", name: "made_by",
        options: [["", "any definition"], ...definitions.map(each => [each.name, `${each.name} (now ${each.version})`])],
      }),
      field({ label: "Version below", name: "version_below", type: "number", min: 1 }),
      field({ label: "Authors", name: "authors", help: "Ids with commas between them" }),
      field({ label: "Created from", name: "created_after", type: "datetime-local" }),
      field({ label: "Created before", name: "created_before", type: "datetime-local" })),
    h("div", { class: "form-row" }, field({ label: "At most items", name: "limit", type: "number", min: 1, help: "The newest ones" }),
      field({ label: "Items a second", name: "rate", type: "number", min: 0.01, max: 100000, step: "any", help: "Empty: as fast as the workers" }),
      field({
        label: "Priority", name: "priority", value: "5",
        options: Array.from({ length: 10 }, (_, index) => [`${index}`, index ? `${index}` : "0, the highest"]),
      })),
    field({ label: "Also items whose outputs would not change", name: "is_forced", type: "checkbox" }),
    field({ label: "Keep the replaced outputs for good", name: "keep_old", type: "checkbox", help: "Otherwise their URLs work on for a day." }),
    h("div", { class: "buttons" }, estimate), result)
  return section("New run", element)
}

function requestOf(form) {
  const data = new FormData(form)
  const number = name => data.get(name) ? Number(data.get(name)) : undefined
  const authors = data.get("authors").split(",").map(text => text.trim()).filter(Boolean)
  return {
    kinds: data.getAll("kinds"), states: data.getAll("states"), authors: authors.length ? authors : undefined,
    made_by: data.get("made_by") || undefined, version_below: number("version_below"),
    created_after: utcTime(data.get("created_after")), created_before: utcTime(data.get("created_before")),
    limit: number("limit"), rate: number("rate"), priority: number("priority"), is_forced: data.has("is_forced"), keep_old: data.has("keep_old"),
  }
}

/** A definition in words, by what the service says of it. */
const named = definition => !definition ? "unknown" : typeof definition === "object" ? `${definition.name} ${definition.version}` : `${definition}`

function estimated(app, request, estimate, send, started) {
  const { items, without_sources: without, definitions, cpu_seconds: cpu } = estimate
  const rows = table({
    caption: "Definitions", rows: definitions ?? [], columns: [
      { title: "Made by", cell: row => named(row.from) }, { title: "Will be made by", cell: row => named(row.to) },
      { title: "Items", numeric: true, cell: row => count(row.items) },
    ],
  })
  const start = action(app, {
    label: `Start the run of ${counted(items, "item")}…`, class: "primary", scopes: ["admin"], why: items ? null : "No item is selected.",
    run: async () => {
      const agreed = await confirm({
        title: `Make ${counted(items, "item")} again?`, action: "Start the run",
        text: `Workers do it in the background, in about ${seconds(cpu)} of CPU time. Each item keeps its outputs until the new ones are there.`,
      })
      if (!agreed) return
      started(await send(request, false))
      return "The run is started."
    },
  })
  return h("div", { class: "estimate" }, h("h3", {}, "Estimate"), facts({
    Items: count(items), "Left out, without sources": count(without), "CPU time": cpu === null ? "unknown" : seconds(cpu),
  }), items > 0 && rows, h("div", { class: "buttons" }, start))
}
