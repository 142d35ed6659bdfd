// The view of moments: a map, a calendar and a feed, as tabs. The tab and its filters stand in the address.

import { lacking } from "./parts.js"
import { failure, h, show } from "./ui.js"

const tabs = [{ name: "map", title: "Map" }, { name: "calendar", title: "Calendar" }, { name: "feed", title: "Feed" }]

export default async function (main, { app, query, signal }) {
  const missing = lacking(app, ["read"])
  if (missing) return show(main, h("h1", {}, "Moments"), missing)
  // What each tab has put into the address, for the way back to it.
  const kept = new Map()
  const panel = h("div", { id: "moments-panel", role: "tabpanel", tabindex: "-1" })
  let current = tabs.find(tab => tab.name === query.get("tab")) ?? tabs[0]
  let opened

  const address = (tab, values) => app.address("moments", { tab: tab === tabs[0] ? null : tab.name, ...values })

  const step = index => event => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!way) return
    event.preventDefault()
    const next = (index + way + tabs.length) % tabs.length
    buttons[next].focus()
    go(tabs[next])
  }
  const buttons = tabs.map((tab, index) =>
    h("button", { role: "tab", id: `moments-${tab.name}`, "aria-controls": panel.id, onclick: () => go(tab), onkeydown: step(index) }, tab.title))

  function go(tab) {
    if (tab === current) return
    const values = kept.get(tab) ?? {}
    history.pushState(null, "", address(tab, values))
    const given = new URLSearchParams(address(tab, values).split("?")[1])
    open(tab, given)
  }

  async function open(tab, given) {
    opened?.abort()
    const turn = opened = new AbortController()
    const until = AbortSignal.any([signal, turn.signal])
    current = tab
    panel.setAttribute("aria-labelledby", `moments-${tab.name}`)
    buttons.forEach((button, index) => {
      button.setAttribute("aria-selected", `${tabs[index] === tab}`)
      button.tabIndex = tabs[index] === tab ? 0 : -1
    })
    show(panel, h("p", { class: "empty" }, "Loading…"))
    const remember = values => {
      if (until.aborted) return
      kept.set(tab, values)
      history.replaceState(null, "", address(tab, values))
    }
    try {
      const module = await import(`./${tab.name}.js`)
      if (!until.aborted) await module.default(panel, { app, query: given, signal: until, remember })
    } catch (error) {
      if (until.aborted) return
      if (error.status === 401) return app.failed(error)
      show(panel, failure(error, () => open(tab, given)))
    }
  }

  show(main, h("h1", {}, "Moments"), h("div", { class: "tabs", role: "tablist", "aria-label": "How moments are shown" }, buttons), panel)
  await open(current, query)
}
