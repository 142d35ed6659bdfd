import ISOBaseMedia
import Model

/// The judgement of a file as it arrives, which must refuse only what the whole file is refused for.
struct Arrival {
  /// The refusal, by the boxes or the tracks; nil if the file may be accepted.
  let refusal: StreamRefusal?
  /// The refusal of the whole file, by the boxes.
  private(set) var refusalAtEnd: StreamRefusal?

  /// Passes a file to a validator in two parts, divided by its bytes.
  init(_ file: [UInt8], _ accepted: AcceptedMedia) {
    var validator = StreamValidator(accepting: accepted, length: Int64(file.count))
    let end = file.isEmpty ? 0 : file.reduce(into: 0) { $0 = $0 &* 31 &+ Int($1) }.magnitude % UInt(file.count)
    for part in [file.prefix(Int(end)), file.dropFirst(Int(end))] {
      _ = part.withUnsafeBytes { validator.append($0) }
    }
    let refusal = validator.refusal
    do throws(StreamRefusal) { _ = try validator.finish() } catch { refusalAtEnd = error }
    self.refusal = refusal ?? refusalAtEnd
  }

  /// What does not hold if the whole file is accepted; nil if it holds.
  func violation(ofAccepted name: InputName) -> String? {
    refusal.map { "\(name.rawValue) is refused as it arrives, at byte \($0.offset): \($0.reason.detail)" }
  }
}

extension Outcome {
  /// The outcome, which is a violation if files were accepted that are refused as they arrive.
  func compared(with arrivals: [InputName: Arrival]) -> Outcome {
    guard case .accepted = ending else { return self }
    let violation = arrivals.lazy.compactMap { $1.violation(ofAccepted: $0) }.first
    return violation.map { Outcome(depth: depth, ending: .violated($0)) } ?? self
  }
}
