// The quarantine: media on which a media process ended twice by itself.

import { ask, watch } from "./parts.js"
import { action, bytes, command, count, facts, h, id as short, show, storeNote, time } from "./ui.js"

const codes = {
  decoder_crashed: "A media process of its own crashed twice on it.", memory_limit_exceeded: "It exceeded the memory limit of a media process twice.",
  deadline_exceeded: "It exceeded the deadline of a media process twice.",
}

export function quarantine(body, app, signal) {
  const list = h("div", { class: "grid" }, h("p", { class: "empty" }, "Loading…"))
  let shown = null
  show(body, h("p", { class: "quiet" }, "Media on which a media process ended twice by itself. ",
    "The same bytes are refused in any post or image until you release them."), list)
  const read = async () => {
    const { items } = await app.api.get("/v1/operations/quarantine", {}, { signal, retries: 0 })
    if (JSON.stringify(items) === shown) return
    shown = JSON.stringify(items)
    show(list, items.length ? items.map(item => quarantined(app, item, read))
      : h("p", { class: "empty" }, "Nothing is quarantined. That is how it should be."))
  }
  watch(app, 5, signal, list, read)
}

function quarantined(app, item, read) {
  const name = item.hash.slice(0, 12)
  return h("section", { class: "card", "aria-label": `Quarantined ${item.kind} ${name}` },
    h("div", { class: "row spread" }, h("h2", {}, item.kind, " ", short(item.hash)), h("span", { class: "badge bad" }, item.code)),
    h("p", {}, codes[item.code] ?? "A media process ended on it twice."),
    facts({
      Stage: item.stage, Signal: item.signal, Crashes: count(item.crashes), "First time": time(item.first_at), "Last time": time(item.last_at),
      Quarantined: time(item.quarantined_at), "Last error": item.error && h("code", {}, item.error),
      Files: h("ul", { class: "plain" }, item.files.map(file =>
        h("li", {}, `${file.role.replace("source.", "")}, ${bytes(file.bytes)} `, short(file.hash)))),
    }),
    h("h3", {}, "Repeat the crash elsewhere"),
    h("p", { class: "quiet" }, "It writes the files, the definition and the facts to a folder, and prints the command that repeats the crash."),
    command(`take5 quarantine export ${name} --to crash-${name.slice(0, 8)}`), command(`take5 quarantine show ${name}`), storeNote(),
    h("div", { class: "buttons" }, action(app, { label: "Release…", class: "danger", scopes: ["admin"], run: () => release(app, item, read) })))
}

async function release(app, item, read) {
  const agreed = await ask({
    title: "Release these media?", action: "Release", isDangerous: true,
    text: "The same bytes may be submitted again, and media processes decode them again. Their files are removed unless a post refers to them.",
    content: [
      h("p", {}, "Do it when the library that crashed on them is repaired, or when the limits were too low. Export the files before, to keep them."),
      h("p", {}, "Posts that still have their sources are then judged again by"), command(`take5 reprocess --rejected --reason ${item.code}`), storeNote(),
    ],
  })
  if (!agreed) return
  await app.api.delete(`/v1/operations/quarantine/${item.hash}`)
  await read()
  return "The media are released."
}
