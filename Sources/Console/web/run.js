// One run of reprocessing: how far it is, what it selects, which items have failed, and its control. The store's list of runs uses its parts.

import { lacking, watch } from "./parts.js"
import { action, badge, command, confirm, count, counted, exactly, facts, h, percent, seconds, section, show, storeNote, table, time } from "./ui.js"

const parts = [["made", "good"], ["skipped", "quiet"], ["failed", "bad"], ["cancelled", "wait"], ["started", "busy"]]

export const hasEnded = run => !["running", "paused"].includes(run.state)

/** The progress of a run, which `update(run)` moves. */
export function progressOf(run) {
  const bar = h("div", { class: "run-bar", role: "progressbar", "aria-label": "Items that are done", "aria-valuemin": "0", "aria-valuemax": "100" },
    parts.map(([, tone]) => h("span", { class: tone })))
  const words = h("p", { class: "run-words" })
  const element = h("div", { class: "run-progress" }, bar, words)
  // The first reading and the readings of the last half minute, which give the rate.
  const looks = []
  element.update = run => {
    const { items, total } = run
    const done = items.made + items.skipped + items.failed + items.cancelled
    parts.forEach(([name], index) => bar.children[index].style.setProperty("width", `${total ? 100 * items[name] / total : 0}%`))
    bar.setAttribute("aria-valuenow", total ? Math.round(100 * done / total) : 100)
    looks.push({ at: Date.now(), done })
    while (looks.length > 2 && looks[0].at < Date.now() - 30_000) looks.shift()
    const span = (looks.at(-1).at - looks[0].at) / 1000
    const rate = span > 1 ? (done - looks[0].done) / span : 0
    const left = rate > 0 && run.state === "running" ? `, ${rate.toFixed(1)} a second, about ${seconds((total - done) / rate)} more` : ""
    const others = ["skipped", "failed", "cancelled", "started"].filter(name => items[name]).map(name => `, ${count(items[name])} ${name}`).join("")
    words.textContent = `${count(done)} of ${counted(total, "item")} (${percent(total ? done / total : 1)})${others}${hasEnded(run) ? "" : left}`
  }
  element.update(run)
  return element
}

/** What a run selects, in words. */
export function selectionOf(selection) {
  const pairs = Object.entries(typeof selection === "string" ? JSON.parse(selection) : selection ?? {})
    .filter(([, value]) => value !== null && value !== false && value?.length !== 0)
  if (!pairs.length) return "everything"
  return pairs.map(([name, value]) => `${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : value}`).join("; ")
}

/** The buttons that pause, resume and cancel a run; `changed(run)` gets its new state. */
export function controlsOf(app, run, changed) {
  if (hasEnded(run)) return []
  const set = (state, said) => async () => {
    changed(await app.api.patch(`/v1/operations/runs/${run.id}`, { state }))
    return said
  }
  const cancel = async () => {
    const agreed = await confirm({
      title: "Cancel this run?", action: "Cancel the run", isDangerous: true,
      text: "The run makes no waiting item and stops the running ones. Finished outputs stay. A cancelled run cannot be resumed.",
    })
    if (agreed) return set("cancelled", "The run is cancelled.")()
  }
  return [
    run.state === "running" ? action(app, { label: "Pause", class: "small", scopes: ["admin"], run: set("paused", "The run is paused.") })
      : action(app, { label: "Resume", class: "small", scopes: ["admin"], run: set("running", "The run is running.") }),
    action(app, { label: "Cancel…", class: "small", scopes: ["admin"], run: cancel }),
  ]
}

export default async function (main, { app, id, signal }) {
  const head = h("h1", {}, "Run")
  const body = h("div", { class: "stack" }, h("p", { class: "empty" }, "Loading…"))
  show(main, h("p", {}, h("a", { href: app.address("store", { tab: "runs" }) }, "All runs")), head, body)
  const missing = lacking(app, ["admin"])
  if (missing) return show(body, missing)

  const state = h("span"), controls = h("div", { class: "row" }), about = h("div"), failed = h("div"), retried = h("div")
  let progress = null, last = null, isOver = false
  const draw = run => {
    if (!progress) {
      progress = progressOf(run)
      const top = h("div", { class: "row spread" }, state, controls)
      show(body, h("section", { class: "card", "aria-label": "Progress" }, top, progress), about, failed, retried)
    }
    progress.update(run)
    isOver = hasEnded(run) && !run.items.started
    const shown = JSON.stringify([run.state, run.ended_at, run.failures, run.retried])
    if (shown === last) return
    last = shown
    show(state, badge(run.state))
    show(controls, controlsOf(app, run, changed => draw({ ...run, ...changed })))
    show(about, section("What it does", facts({
      Id: h("code", {}, run.id), Selects: selectionOf(run.selection), Priority: count(run.priority),
      "At most": run.rate ? `${run.rate} items a second` : null,
      Began: exactly(run.created_at), Ended: run.ended_at && [exactly(run.ended_at), " (", time(run.ended_at), ")"],
    }), command(`take5 reprocess status ${run.id}`), storeNote()))
    show(failed, run.failures?.length
      ? section("Failed", h("p", { class: "quiet" }, "These keep their former outputs."), items(app, "Failed items", run.failures)) : null)
    show(retried, run.retried?.length
      ? section("Attempted again", h("p", { class: "quiet" }, "Their last attempt failed, and they have another one. The run ends after them."),
        items(app, "Items that are attempted again", run.retried)) : null)
  }
  watch(app, 2, signal, body, async () => {
    if (!isOver) draw(await app.api.get(`/v1/operations/runs/${encodeURIComponent(id)}`, {}, { signal, retries: 0 }))
  })
}

function items(app, caption, rows) {
  const isPost = row => ["take5", "photo", "marker", "post"].includes(row.kind)
  return table({
    caption, rows, columns: [
      { title: "Item", cell: row => isPost(row) ? h("a", { href: app.address(`post/${row.id}`) }, row.id) : h("code", {}, row.id) },
      { title: "Kind", cell: row => row.kind }, { title: "Error", cell: row => h("code", {}, row.error) },
    ],
  })
}
