// Reads the text format of Prometheus: samples by name, sums by label, histograms with their quantiles and growth.

const sample = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g
const plain = text => text.replace(/\\(.)/g, (_, letter) => letter === "n" ? "\n" : letter)
const number = text => text.endsWith("Inf") ? (text[0] === "-" ? -Infinity : Infinity) : Number(text)

class Metrics {
  #samples = new Map()

  constructor(text) {
    for (const line of text.split("\n")) {
      const [, name, labels, value] = sample.exec(line) ?? []
      if (!name) continue
      if (!this.#samples.has(name)) this.#samples.set(name, [])
      const named = Object.fromEntries([...(labels ?? "").matchAll(label)].map(([, key, content]) => [key, plain(content)]))
      this.#samples.get(name).push({ labels: named, value: number(value) })
    }
  }

  /** The samples of a name. `where` has the wanted value, or a function that decides about it, by label. */
  select(name, where = {}) {
    const wanted = Object.entries(where)
    return (this.#samples.get(name) ?? []).filter(({ labels }) =>
      wanted.every(([key, value]) => typeof value === "function" ? value(labels[key] ?? "") : labels[key] === value))
  }

  sum(name, where) { return this.select(name, where).reduce((sum, each) => sum + each.value, 0) }

  /** The greatest and the least value; null without a sample. */
  max(name, where) { return this.select(name, where).reduce((most, { value }) => most === null || value > most ? value : most, null) }
  min(name, where) { return this.select(name, where).reduce((least, { value }) => least === null || value < least ? value : least, null) }

  /** The values that a label has, in their order of appearance. */
  values(name, key, where) { return [...new Set(this.select(name, where).map(each => each.labels[key]))] }

  /** The sums by the values of a label. */
  by(name, key, where) {
    const sums = new Map()
    for (const { labels, value } of this.select(name, where)) sums.set(labels[key], (sums.get(labels[key]) ?? 0) + value)
    return sums
  }

  /** A histogram, summed over the labels that `where` leaves open: `{count, sum, buckets: [[bound, number up to it]]}`. */
  histogram(name, where) {
    const buckets = [...this.by(`${name}_bucket`, "le", where)].map(([bound, value]) => [number(bound), value]).sort(([a], [b]) => a - b)
    return { count: this.sum(`${name}_count`, where), sum: this.sum(`${name}_sum`, where), buckets }
  }

  /** The histograms by the values of a label, as an object. */
  histograms(name, key, where = {}) {
    return Object.fromEntries(this.values(`${name}_count`, key, where).map(value => [value, this.histogram(name, { ...where, [key]: value })]))
  }
}

/** A quantile (0.95) of a histogram, as histogram_quantile of Prometheus estimates it; null without observations. */
export function quantile({ count, buckets }, share) {
  if (!(count > 0)) return null
  const rank = share * count
  let [low, below] = [0, 0]
  for (const [bound, number] of buckets) {
    if (number >= rank) return bound === Infinity ? low : low + (bound - low) * (number > below ? (rank - below) / (number - below) : 0)
    low = bound
    below = number
  }
  return low
}

/** What a histogram has observed since an earlier state of it; a process that has started again counts from zero. */
export function growth(now, before) {
  if (!before || now.count < before.count) return now
  const former = new Map(before.buckets)
  const buckets = now.buckets.map(([bound, number]) => [bound, number - (former.get(bound) ?? 0)])
  return { count: now.count - before.count, sum: now.sum - before.sum, buckets }
}

/** Reads the metrics of the process that serves the page. */
export async function readMetrics(signal) {
  const response = await fetch("/metrics", { headers: { "Take5-Console": "1" }, credentials: "same-origin", signal })
  if (!response.ok) throw Object.assign(new Error("The metrics cannot be read."), { status: response.status })
  return new Metrics(await response.text())
}
