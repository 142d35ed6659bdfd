// The webhooks: their list, a new one, and one with its deliveries, which can be sent again.

import { ask, isRefusal, lacking, liveList, localTime, secretOnce, utcTime, watch } from "./parts.js"
import { action, badge, confirm, count, counted, exactly, facts, field, h, lasting, problem, section, show, time } from "./ui.js"

const kinds = [
  "post_previewed", "post_ready", "post_rejected", "post_failed", "post_held", "post_hidden", "comment", "reaction", "like", "friend_request",
  "friend_accepted", "friend_posted", "thread_comment", "collection_shared", "collection_comment", "invitation_accepted", "invitation_declined",
  "case_opened", "window_opened", "message", "webhook_disabled", "account_verification_requested", "password_reset_requested",
  "session_started", "password_changed", "email_changed",
]

const causes = {
  gone: "It has replied with 410: the endpoint is gone.", failing: "Nothing has succeeded for five days.", operator: "An operator has disabled it.",
}

const kindBoxes = chosen => h("fieldset", {}, h("legend", {}, "Kinds of events"), h("div", { class: "kinds" }, kinds.map(kind =>
  h("label", { class: "box" }, h("input", { type: "checkbox", name: "kinds", value: kind, checked: chosen.includes(kind) }), kind))))

// MARK: The list

/** Fills the tab. */
export function webhooks(body, { app, signal }) {
  const missing = lacking(app, ["webhooks"])
  if (missing) return show(body, missing)
  const row = webhook => h("li", {}, h("a", { class: "webhook-row", href: app.address(`webhook/${webhook.id}`) },
    h("span", { class: "row" }, stateOf(webhook), h("strong", { class: "cut" }, webhook.url)),
    h("small", {}, counted(webhook.kinds.length, "kind"), ", created ", time(webhook.created_at),
      webhook.failing_since && h("span", { class: "bad" }, ", failing for ", lasting(webhook.failing_since)))))
  const list = liveList(app, signal, {
    path: "/v1/webhooks", seconds: 10, row, empty: "There is no webhook yet. It sends events to the back-end of an app.",
  })
  show(body, section("Webhooks", list.element), section("New webhook", create(app, list.read)))
}

const stateOf = webhook => webhook.state === "enabled" && webhook.failing_since ? h("span", { class: "badge wait" }, "failing")
  : webhook.state === "enabled" ? h("span", { class: "badge good" }, "enabled") : badge("disabled")

function create(app, read) {
  const said = h("div", { role: "status" })
  const save = action(app, { label: "Create", class: "primary", scopes: ["webhooks"], run: async () => {
    show(said)
    if (!form.reportValidity()) return
    const data = new FormData(form)
    if (!data.getAll("kinds").length) throw new Error("Choose at least one kind.")
    try {
      const { secret } = await app.api.post("/v1/webhooks", { url: data.get("url"), kinds: data.getAll("kinds") })
      form.reset()
      secretOnce(secret)
      await read()
      return "The webhook is created."
    } catch (error) {
      if (!isRefusal(error)) throw error
      show(said, problem(error))
    }
  } })
  const form = h("form", { onsubmit: event => event.preventDefault() }, field({
    label: "Address", name: "url", type: "url", required: true, maxlength: 2000, placeholder: "https://app.example.org/take5", autocomplete: "off",
    help: "With TLS and a public address, unless ‘--webhook-permit’ permits another one.",
  }), kindBoxes([]), said, h("div", { class: "buttons" }, save))
  return form
}

// MARK: One webhook

export default async function (main, { app, id, query, signal }) {
  const head = h("div", {}, h("p", { class: "empty" }, "Loading…"))
  show(main, h("p", {}, h("a", { href: app.address("people", { tab: "webhooks" }) }, "All webhooks")), h("h1", {}, "Webhook"), head)
  const missing = lacking(app, ["webhooks"])
  if (missing) return show(head, missing)
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const state = ["pending", "delivered", "failed"].includes(query.get("state")) ? query.get("state") : undefined
  const brief = h("p", { role: "status" })
  const list = liveList(app, signal, {
    path: `${path}/deliveries`, query: { state }, seconds: 5, row: delivery => deliveryRow(app, path, delivery, () => list.read()),
    empty: state ? `No delivery is ${state}.` : "Nothing was sent in the last seven days.",
    onread: (items, next) => show(state ? h("span") : brief, items.length > 0 && briefly(items, next)),
  })
  const toggle = name => h("a", {
    class: "button small", href: app.address(`webhook/${encodeURIComponent(id)}`, { state: name }), "aria-current": name === state ? "page" : null,
  }, name ?? "all")
  main.append(section("Deliveries", h("div", { class: "row spread" },
    h("div", { class: "row" }, [undefined, "pending", "delivered", "failed"].map(toggle)),
    action(app, { label: "Send the failed ones again…", class: "small", scopes: ["webhooks"], run: () => replayFailed(app, path, list.read) })),
  h("p", { class: "quiet" }, "For seven days, without their bodies. One that fails is sent again by itself after growing pauses; while the webhook fails, "
    + "the others wait for it."), !state && brief, list.element))
  let shown = null
  const draw = webhook => {
    if (JSON.stringify(webhook) === shown) return
    shown = JSON.stringify(webhook)
    show(head, about(app, path, webhook, draw))
  }
  watch(app, 10, signal, head, async () => draw(await app.api.get(path, {}, { signal, retries: 0 })))
}

/** The deliveries of a page by their states, and when the next one is sent. */
function briefly(items, next) {
  const number = state => items.filter(each => each.state === state).length
  const words = { delivered: "delivered", failed: "failed", pending: number("pending") === 1 ? "waits" : "wait" }
  const parts = Object.entries(words).filter(([state]) => number(state)).map(([state, word]) => `${count(number(state))} ${word}`).join(", ")
  const [first] = items.map(each => each.next_at).filter(Boolean).sort()
  return [next && `Of the newest ${count(items.length)}: `, parts, first && [", next ", time(first)]]
}

function about(app, path, webhook, changed) {
  const isEnabled = webhook.state === "enabled"
  const set = async (change, said) => {
    changed(await app.api.patch(path, change))
    return said
  }
  const disable = async () => {
    const text = "It gets nothing of what happens until it is enabled."
    const agreed = await confirm({ title: "Disable this webhook?", text, action: "Disable", isDangerous: true })
    if (agreed) return set({ state: "disabled" }, "It is disabled.")
  }
  const rotate = async () => {
    const text = "Messages have a signature with each of both secrets for 24 hours; then only the new one is valid."
    if (!await confirm({ title: "Make another secret?", text, action: "Make another secret" })) return
    secretOnce((await app.api.post(`${path}/secret`)).secret)
  }
  const change = async () => {
    const given = await ask({
      title: "Change the webhook", action: "Save", content: [
        field({ label: "Address", name: "url", type: "url", value: webhook.url, required: true, maxlength: 2000 }), kindBoxes(webhook.kinds),
      ], all: ["kinds"], permits: ({ kinds }) => kinds.length > 0,
    })
    if (given) return set({ url: given.url, kinds: given.kinds }, "The webhook is changed.")
  }
  const remove = async () => {
    const text = "Its deliveries are deleted too, and nothing is sent any more. Another webhook has another secret."
    if (!await confirm({ title: "Delete this webhook?", text, action: "Delete", isDangerous: true })) return
    await app.api.delete(path)
    app.go("people", { tab: "webhooks" })
    return "The webhook is deleted."
  }
  const button = (label, run, kind) => action(app, { label, class: kind, scopes: ["webhooks"], run })
  return h("section", { class: "card", "aria-label": "The webhook" },
    h("div", { class: "row spread" }, h("h2", { class: "cut" }, webhook.url), stateOf(webhook)),
    facts({
      Id: h("code", {}, webhook.id), Created: exactly(webhook.created_at), Kinds: webhook.kinds.join(", "),
      Disabled: webhook.disabled_at && [time(webhook.disabled_at), ". ", causes[webhook.cause]],
      "Failing for": webhook.failing_since && h("span", { class: "bad" }, lasting(webhook.failing_since)),
    }),
    h("div", { class: "buttons" }, button("Change…", change), button("Another secret…", rotate), isEnabled ? button("Disable…", disable)
      : button("Enable", () => set({ state: "enabled" }, "It is enabled."), "primary"), button("Delete…", remove, "danger")))
}

async function replayFailed(app, path, read) {
  const day = new Date(Date.now() - 86_400_000).toISOString()
  const given = await ask({
    title: "Send failed deliveries again?", text: "Sends the failed deliveries of events since this time; the oldest 10,000.", action: "Send again",
    content: field({ label: "Events since", name: "since", type: "datetime-local", value: localTime(day), help: "Empty: all." }),
  })
  if (!given) return
  const { replayed } = await app.api.post(`${path}/replay`, { since: utcTime(given.since) ?? null })
  await read()
  return `${counted(replayed, "message")} will be sent again.`
}

function deliveryRow(app, path, delivery, read) {
  const replay = async () => {
    await app.api.post(`${path}/deliveries/${delivery.id}/replay`)
    await read()
    return "It will be sent again."
  }
  const hasCode = ["account_verification_requested", "password_reset_requested"].includes(delivery.kind)
  const why = delivery.state === "pending" ? "It is sent at its time: only a delivered or failed message can be sent again." : hasCode ? "It had a code, which is gone." : null
  const state = delivery.state === "pending" ? h("span", { class: "badge wait" }, "pending") : badge(delivery.state)
  return h("li", { class: "delivery" }, state, h("span", {}, h("strong", {}, delivery.kind ?? "an event that is gone"),
    h("small", {}, " ", delivery.created_at && ["of ", time(delivery.created_at)])),
  h("span", { class: "delivery-words" }, h("span", {}, delivery.attempts ? counted(delivery.attempts, "attempt") : "not sent yet",
    delivery.status !== null && `, status ${delivery.status}`, delivery.tried_at && [", last ", time(delivery.tried_at)],
    delivery.next_at && [", next ", time(delivery.next_at)]), delivery.error && h("span", { class: "bad cut", title: delivery.error }, delivery.error)),
  action(app, { label: "Send again", class: "small", scopes: ["webhooks"], why, run: replay }))
}
