import MediaProcess
import Model

/// What `take5 photo --json` prints of a file.
struct PhotoAnswer: Encodable {
  /// What became of a file.
  enum Outcome: String, Encodable {
    case accepted
    case rejected
    /// Nothing is said about it: it could not be read, or its variants could not be written.
    case failed
  }

  /// One variant and its path.
  struct Output: Encodable {
    let path: String
    let type: String
    let bytes: Int64
    let width: Int
    let height: Int
  }

  let file: String
  let verdict: Outcome
  let reasons: [Reason]
  let photo: PhotoFacts?
  let decisions: [Decision]
  let thumbhash: String?
  let dominantColor: String?
  let outputs: [Role: Output]
  let error: String?
  /// How the command ends because of it; nil: well.
  let status: ExitStatus?

  private enum CodingKeys: CodingKey {
    case file, verdict, reasons, photo, decisions, thumbhash, dominantColor, outputs, error
  }

  init(file: String, report: PhotoReport, paths: [Role: String]) {
    self.file = file
    verdict = report.reason == nil ? .accepted : .rejected
    reasons = report.reason.map { [$0] } ?? []
    photo = report.facts
    decisions = report.decisions
    thumbhash = report.thumbhash
    dominantColor = report.dominantColor
    var named: [Role: Output] = [:]
    for output in report.outputs {
      guard let path = paths[output.role] else { continue }
      named[output.role] = Output(
        path: path, type: output.type, bytes: output.bytes, width: output.width, height: output.height)
    }
    outputs = named
    error = nil
    status = report.reason == nil ? nil : .rejected
  }

  init(file: String, failure: CommandFailure) {
    self.init(
      file: file, error: [failure.message, failure.remedy].compactMap(\.self).joined(separator: "; "), failure.status)
  }

  /// A process that the photo may have broken is a refusal, with the code that a worker would come to.
  init(file: String, failure: MediaFailure) {
    guard let code = failure.refusalCode else {
      self.init(file: file, failure: CommandFailure(failure))
      return
    }
    let reason = Reason(code, input: .photo, detail: "\(failure.detail); take another photo")
    self.init(file: file, report: PhotoReport(reason: reason), paths: [:])
  }

  private init(file: String, error: String, _ status: ExitStatus) {
    self.file = file
    verdict = .failed
    (reasons, photo, decisions, thumbhash, dominantColor, outputs) = ([], nil, [], nil, nil, [:])
    self.error = error
    self.status = status
  }

  /// What a person reads.
  var text: String {
    if let error { return error.hasPrefix(file) ? error : "\(file): \(error)" }
    if let reason = reasons.first { return "\(file): \(reason.code.rawValue): \(reason.detail)" }
    return outputs.sorted { $0.value.width * $0.value.height > $1.value.width * $1.value.height }
      .map { "\($0.value.path)  \($0.value.width)x\($0.value.height)  \($0.value.bytes) bytes" }
      .joined(separator: "\n")
  }
}
