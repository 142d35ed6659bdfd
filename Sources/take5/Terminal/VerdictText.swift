import Model

/// A verdict as text.
enum VerdictText {
  /// Prints a verdict as JSON or as text.
  static func print(_ verdict: Verdict, json: Bool, explains: Bool = false) throws {
    try Console.print(json ? try JSON.text(verdict) : text(of: verdict, explains: explains))
  }

  /// The lines of a verdict: its outcome, reasons, warnings, inputs and, if `explains`, decisions.
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

  /// One reason, indented.
  static func text(of reason: Reason) -> String { "  \(line(of: reason))" }

  /// One reason, such as `photo 2: empty_file: The file is empty. ...`.
  static func line(of reason: Reason) -> String {
    let number = reason.photo.map { " \($0 + 1)" } ?? ""
    let input = reason.input.map { "\($0.rawValue)\(number): " } ?? ""
    return "\(input)\(reason.code.rawValue): \(reason.detail)"
  }

  private static func text(of warning: Warning) -> String {
    let input = warning.input.map { "\($0.rawValue): " } ?? ""
    return "  warning: \(input)\(warning.code.rawValue): \(warning.detail)"
  }

  private static func text(of report: InputReport) -> String {
    let video = report.facts.video
    var parts = ["\(video.codec) \(video.display.width)x\(video.display.height)"]
    if let seconds = report.decodedSeconds ?? report.facts.duration { parts.append("\(rounded(seconds)) s") }
    if let frames = report.frames { parts.append(CountText.text(frames, "frame")) }
    parts.append(report.facts.audio.map { "\($0.codec) \($0.sampleRate) Hz" } ?? "no audio")
    return parts.joined(separator: ", ")
  }

  /// One decision, indented.
  static func text(of decision: Decision) -> String {
    let input = decision.input.map { "\($0.rawValue): " } ?? ""
    return "  \(decision.subject.rawValue): \(input)\(decision.choice) (\(decision.reason))"
  }

  /// A number with two decimals; `-` if it is not finite or 1e9 or more.
  static func rounded(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "-" }
    let hundredths = Int((value * 100).rounded())
    let rest = String(hundredths % 100)
    return "\(hundredths / 100).\(rest.count == 1 ? "0" + rest : rest)"
  }
}

/// A duration as text.
enum DurationText {
  /// Formats seconds as `0.35 s`, `42 s`, `5m 3s`, `2h 10m` or `3d 4h`.
  static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e9 else { return "-" }
    if seconds < 10 { return "\(VerdictText.rounded(max(0, seconds))) s" }
    let whole = Int(seconds)
    switch whole {
    case ..<60: return "\(whole) s"
    case ..<3600: return "\(whole / 60)m \(whole % 60)s"
    case ..<86_400: return "\(whole / 3600)h \(whole / 60 % 60)m"
    default: return "\(whole / 86_400)d \(whole / 3600 % 24)h"
    }
  }
}
