// Changes of jobs: of one, of the chosen ones, and of all that a filter finds, each after a question.

import { action, confirm, count, counted, exactly, facts, h, show, toast } from "./ui.js"

const changes = {
  retry: {
    word: "Retry", done: "retried", permits: job => job.state === "dead" || job.state === "scheduled",
    meaning: "A dead job starts with its first attempt, one that waits runs now. Posts of these jobs are processing again.",
  },
  cancel: {
    word: "Cancel", done: "cancelled", permits: job => ["scheduled", "available", "executing"].includes(job.state),
    meaning: "Waiting jobs end at once, running ones with their next heartbeat. Their posts have then failed, until a run of reprocessing.",
  },
}

/** The jobs that one request changes at most. */
const batch = 10_000

export class JobChanges {
  /** How far a change of all jobs is. */
  progress = h("div", { class: "row", hidden: true })
  /** What can be changed of the chosen jobs. */
  chosen = h("div", { class: "row", hidden: true })
  #app
  #signal
  #filter
  #list
  #onchange

  /** `list` has the rows of the jobs; `onchange()` reads them again after a change of all jobs of the filter. */
  constructor(app, signal, { filter, list, onchange }) {
    [this.#app, this.#signal, this.#filter, this.#list, this.#onchange] = [app, signal, filter, list, onchange]
  }

  /** The buttons that change one job. */
  of(job) {
    return Object.entries(changes).filter(([, { permits }]) => permits(job)).map(([name, { word }]) => action(this.#app, {
      label: word, class: "small", scopes: ["admin"], run: () => this.#change(job, name),
    }))
  }

  async #change(job, name) {
    const { done, meaning } = changes[name]
    const question = { title: `Cancel this job of the kind ‘${job.kind}’?`, text: meaning, action: "Cancel the job", isDangerous: true }
    if (name === "cancel" && !await confirm(question)) return
    this.#list.replace([await this.#app.api.post(`/v1/jobs/${job.id}/${name}`)])
    return `The job is ${done}.`
  }

  /** The buttons that change all jobs of the filter. */
  ofAll() {
    const run = name => () => this.#changeAll(name)
    return h("div", { class: "row" },
      action(this.#app, { label: "Retry all of the filter…", class: "small", scopes: ["admin"], run: run("retry") }),
      action(this.#app, { label: "Cancel all of the filter…", class: "small", scopes: ["admin"], run: run("cancel") }))
  }

  /** Changes what the filter finds, after the service has counted it. */
  async #changeAll(name) {
    const { word, done, meaning } = changes[name]
    const { id, finished_after, finished_before, ...filter } = this.#filter.given
    if (id || finished_after || finished_before) {
      throw new Error("Changes of all jobs do not go by the id or the time of the end: remove these from the filter, or choose jobs in the list.")
    }
    const send = others => this.#app.api.post("/v1/operations/jobs", { action: name, filter, ...others })
    // The jobs that are counted now change, and no job that comes later.
    const { matched, changed, remaining, before } = await send({ limit: null, dry_run: true })
    const all = changed + (remaining ?? 0)
    const says = `This would ${name} ${count(all)} of ${counted(matched, "job")}.`
    if (!all) return void toast(`${says} Nothing is changed.`, "bad")
    const agreed = await confirm({
      title: `${word} ${counted(all, "job")}?`, text: says, action: `${word} ${counted(all, "job")}`, isDangerous: name === "cancel",
      details: [facts(this.#words(filter)), h("p", { class: "quiet" }, meaning)],
    })
    if (!agreed) return
    const number = await this.#changeInTurns(all, limit => send({ limit, dry_run: false, before }), done)
    await this.#onchange().catch(() => {})
    return `${counted(number, "job")} of ${count(all)} ${number === 1 ? "is" : "are"} ${done}.`
  }

  /** Sends one request after the other until all jobs are changed, and says how far it is. A request that was sent is not given up: the service
   *  would go on with it. The button, and another view, stop before the next one. Returns the number of changed jobs. */
  async #changeInTurns(all, send, done) {
    const words = h("strong", { role: "status" })
    const stop = new AbortController()
    const end = h("button", { class: "small", onclick: () => { stop.abort(); end.disabled = true } }, "Stop")
    const signal = AbortSignal.any([this.#signal, stop.signal])
    show(this.progress, words, h("progress", { max: `${all}`, value: 0, "aria-label": "Changed jobs" }), end)
    this.progress.hidden = false
    let changed = 0
    try {
      for (let isOver = false; !isOver && !signal.aborted;) {
        words.textContent = `${count(changed)} of ${counted(all, "job")} ${done}`
        this.progress.querySelector("progress").value = changed
        const answer = await send(Math.min(batch, all - changed))
        changed += answer.changed
        isOver = !answer.remaining || !answer.changed || changed >= all
      }
    } catch (error) {
      if (changed) toast(`${counted(changed, "job")} of ${count(all)} ${changed === 1 ? "was" : "were"} ${done} before it failed.`, "bad")
      throw error
    } finally {
      this.progress.hidden = true
    }
    return changed
  }

  #words(filter) {
    if (!Object.keys(filter).length) return { "The filter": "all jobs" }
    return Object.fromEntries(Object.entries(filter).map(([name, value]) =>
      [name.replace("_", " "), name.startsWith("created") ? exactly(value) : [value].flat().join(", ")]))
  }

  /** Shows what can be changed of the chosen jobs. */
  showChosen() {
    const jobs = this.#list.chosen
    this.chosen.hidden = !jobs.length
    if (!jobs.length) return
    const words = h("strong", { role: "status" }, `${counted(jobs.length, "job")} chosen`)
    show(this.chosen, words, Object.entries(changes).map(([name, { word, permits }]) => {
      const able = jobs.filter(permits)
      return action(this.#app, {
        label: `${word} ${count(able.length)}`, class: "small", scopes: ["admin"],
        why: able.length ? null : `None of them can be ${changes[name].done}.`, run: () => this.#changeChosen(name, jobs, able),
      })
    }), h("button", { class: "small", onclick: () => this.#list.chooseNone() }, "Choose none"))
  }

  /** Changes the chosen jobs one by one, four at a time. */
  async #changeChosen(name, jobs, able) {
    const { word, done, meaning } = changes[name]
    const agreed = await confirm({
      title: `${word} ${counted(able.length, "job")}?`, action: `${word} ${counted(able.length, "job")}`, isDangerous: name === "cancel",
      text: `This would ${name} ${count(able.length)} of ${counted(jobs.length, "job")}.`, details: h("p", { class: "quiet" }, meaning),
    })
    if (!agreed) return
    const rest = [...able]
    const failures = []
    let changed = 0
    const work = async () => {
      for (let job = rest.shift(); job && !this.#signal.aborted; job = rest.shift()) {
        try {
          this.#list.replace([await this.#app.api.post(`/v1/jobs/${job.id}/${name}`)])
          changed += 1
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all([work(), work(), work(), work()])
    this.#list.chooseNone()
    if (failures.length) toast(`${counted(failures.length, "job")} not ${done}: ${failures[0].detail ?? failures[0].message}`, "bad")
    return `${counted(changed, "job")} of ${count(able.length)} ${changed === 1 ? "is" : "are"} ${done}.`
  }
}
