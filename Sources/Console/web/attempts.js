// The attempts at the job of a post over time, with what operators know of it besides.

import { jobActions, timeline } from "./timeline.js"
import { h, show } from "./ui.js"

export default async function (panel, { record, app, signal, reload }) {
  const draw = async () => {
    record.forget("job", "entry")
    const [job, entry] = await Promise.all([record.job(), record.entry()])
    if (signal.aborted) return
    if (!job) return show(panel, h("p", { class: "card empty" }, "This sign-in may not read the job of the post."))
    const actions = jobActions(app, { ...job, ...entry, verdict: job.verdict }, async () => { await reload(); await draw() }).filter(Boolean)
    show(panel, actions.length > 0 && h("div", { class: "row" }, actions), timeline(job, entry))
    if (!["completed", "cancelled", "dead"].includes(job.state)) setTimeout(() => signal.aborted || draw().catch(() => {}), 2000)
  }
  await draw()
}
