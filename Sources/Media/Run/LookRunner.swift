import AV
import Model
import Platform

/// Makes the outputs of a first look: each input by itself, in the latency mode all of them at the same time.
struct LookRunner: Sendable {
  let mode: ExecutionMode
  let sources: [InputName: InputSource]
  let files: [Role: OpenFile]

  private typealias Ending = Result<RunReport, RunEnding>

  func run(_ plan: Plan) throws(RunEnding) -> RunReport {
    let parts = plan.looks
    var endings: [Ending] = []
    if mode == .latency, parts.count == 2 {
      let second = Channel<Ending>(capacity: 1)
      do {
        try NamedThread(name: "look \(parts[1].inputs.keys.first?.rawValue ?? "")") {
          _ = second.put(Result { () throws(RunEnding) in try make(parts[1]) })
        }.detach()
      } catch {
        throw .failed(MediaError(.library, "\(error)"))
      }
      endings.append(Result { () throws(RunEnding) in try make(parts[0]) })
      if let ending = second.take() { endings.append(ending) }
    } else {
      endings = parts.map { part in Result { () throws(RunEnding) in try make(part) } }
    }
    let whole = PartialReport(of: plan)
    var report = whole.accepted([])
    for ending in endings {
      let part: RunReport
      do { part = try ending.get() } catch {
        guard case .rejected(let part) = error else { throw error }
        throw whole.rejection(part.verdict.reasons)
      }
      report.verdict.inputs.merge(part.verdict.inputs) { _, part in part }
      report.outputs += part.outputs
    }
    return report
  }

  /// Makes the outputs of the input that a part of the plan has.
  private func make(_ plan: Plan) throws(RunEnding) -> RunReport {
    let outputs = try OpenedOutputs(
      of: plan, from: try OpenedClips(try ScannedInputs(of: plan, from: sources, mode: mode), mode: mode), to: files)
    let report = outputs.report
    let facts = try report.step { () throws(RunFailure) in
      for reader in outputs.clips.clips.map(\.reader) {
        try reader.start()
        try reader.look(for: outputs.stills)
      }
      return try outputs.finish()
    }
    return report.accepted(facts)
  }
}
