import Model

/// A verdict as the command line tells it.
enum VerdictText {
  /// Prints a verdict: JSON for programs, sentences for people.
  static func print(_ verdict: Verdict, json: Bool, explains: Bool = false) throws {
    try Console.print(json ? try JSON.text(verdict) : text(of: verdict, explains: explains))
  }

  /// What a person reads.
  static func text(of verdict: Verdict, explains: Bool) -> String {
    var lines = [verdict.verdict.rawValue]
    lines += verdict.reasons.map(text(of:))
    lines += verdict.warnings.map(text(of:))
    for (input, report) in verdict.inputs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      lines.append("  \(input.rawValue): \(text(of: report))")
    }
    if explains { lines += verdict.decisions.map(text(of:)) }
    return lines.joined(separator: "\n")
  }

  private static func text(of reason: Reason) -> String {
    let input = reason.input.map { "\($0.rawValue): " } ?? ""
    return "  \(input)\(reason.code.rawValue): \(reason.detail)"
  }

  private static func text(of warning: Warning) -> String {
    let input = warning.input.map { "\($0.rawValue): " } ?? ""
    return "  warning: \(input)\(warning.code.rawValue): \(warning.detail)"
  }

  private static func text(of report: InputReport) -> String {
    let video = report.facts.video
    var words = ["\(video.codec) \(video.display.width)x\(video.display.height)"]
    if let seconds = report.decodedSeconds ?? report.facts.duration { words.append("\(rounded(seconds)) s") }
    if let frames = report.frames { words.append("\(frames) frames") }
    words.append(report.facts.audio.map { "\($0.codec) \($0.sampleRate) Hz" } ?? "no sound")
    return words.joined(separator: ", ")
  }

  private static func text(of decision: Decision) -> String {
    let input = decision.input.map { "\($0.rawValue): " } ?? ""
    return "  \(decision.subject.rawValue): \(input)\(decision.choice) (\(decision.reason))"
  }

  /// Two digits after the point; `-` for what no clip lasts.
  static func rounded(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "-" }
    let hundredths = Int((value * 100).rounded())
    let rest = String(hundredths % 100)
    return "\(hundredths / 100).\(rest.count == 1 ? "0" + rest : rest)"
  }
}
