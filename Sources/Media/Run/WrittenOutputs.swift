import Model
import Platform

/// The last phase of a run: the clips are decoded, the outputs are complete, and none holds identifying metadata.
struct WrittenOutputs {
  let report: RunReport

  /// Decodes the clips and writes the outputs.
  ///
  /// - Parameter progress: called after each tick with the completed fraction, 0 to 1.
  init(of plan: Plan, _ outputs: OpenedOutputs, progress: (Double) -> Void = { _ in }) throws(RunEnding) {
    var report = outputs.report
    let facts = try report.step { () throws(RunFailure) in
      try outputs.decode(limits: plan.limits, progress: progress)
      return try outputs.finish()
    }
    if !facts.isEmpty { report.decisions.append(Self.privacyDecision(of: plan, outputs: facts.count)) }
    report.decisions += outputs.clips.clips.compactMap(\.reader.misplacedDecision)
    report.warnings += outputs.clips.clips.flatMap { $0.monitor?.warnings ?? [] }
    self.report = report.accepted(facts)
  }

  private static func privacyDecision(of plan: Plan, outputs: Int) -> Decision {
    let kinds = Set(plan.inputs.values.flatMap(\.facts.identifying).map(\.kind.rawValue)).sorted()
    let found = kinds.isEmpty ? "the inputs held none" : "the inputs held metadata on \(kinds.joined(separator: ", "))"
    return Decision(
      .privacy, choice: "no identifying metadata is left", reason: "\(outputs) outputs were parsed; \(found)")
  }
}

extension OpenedOutputs {
  /// Encodes every tick of the grid in order, decoding each clip up to it, and then decodes the rest of the clips.
  fileprivate func decode(limits: Limits, progress: (Double) -> Void) throws(RunFailure) {
    let readers = clips.clips.map(\.reader)
    for reader in readers { try reader.prepare() }
    for reader in readers { try reader.start() }
    let grid = clips.scanned.grid
    let shifts = span?.shifts ?? [:]
    let first = -(shifts.values.max() ?? 0)
    let last = (compositions.map(\.ticks) + clipOutputs.map(\.ticks)).max() ?? 0
    for tick in first..<max(first, last) {
      for reader in readers { try reader.advance(toTick: tick + (shifts[reader.source.name] ?? 0), of: grid) }
      for composition in compositions where (0..<composition.ticks).contains(tick) {
        try composition.encode(tick: tick)
      }
      for output in clipOutputs { try output.encode(tick: tick + (shifts[output.reader.source.name] ?? 0)) }
      progress(Double(tick - first) / Double(last - first))
    }
    // Without a limit on the duration the rest of the input need not be decoded.
    guard limits.seconds != nil else {
      for reader in readers {
        while !reader.frameTaps.allSatisfy(\.isFinished), try reader.advance() {}
      }
      return
    }
    let rule = DurationRule(limits: limits)
    for reader in readers {
      try reader.finish()
      // A clip whose first frames refer to frames before its start has fewer frames than packets.
      if let reason = rule.durationReason(reader.source.name, seconds: reader.decodedSeconds) { throw .refused(reason) }
    }
  }

  /// Completes the files, after the end of the clips, and checks that none holds identifying metadata.
  func finish() throws(RunFailure) -> [OutputFacts] {
    var facts: [OutputFacts] = []
    for composition in compositions { facts += try composition.finish() }
    for output in clipOutputs { facts.append(try output.finish()) }
    facts += stills.compactMap(\.writer.facts)
    if let preview { facts.append(try preview.writer.finish()) }
    for output in facts { try PrivacyCheck(role: output.role, file: try files.file(for: output.role)).check() }
    return facts
  }
}
