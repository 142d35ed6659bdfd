package import Model

/// What somebody did or saw, as it stands in the ledger.
package enum LedgerEvent: Sendable, Hashable {
  /// A producer is about to enqueue a job.
  case intended(PublicID)
  /// It was told that the commit happened.
  case enqueued(PublicID)
  /// It was told that a live job with the same unique key stands for this one.
  case absorbed(PublicID)
  /// A producer was told that the job is cancelled.
  case cancelled(PublicID)
  /// A worker begins an attempt.
  case began(PublicID, token: Int64, attempt: Int)
  /// The handler of an attempt returned, whatever will be written of it.
  case left(PublicID, token: Int64)
  /// A worker was told that the transaction with this attempt's effect is committed.
  case finished(PublicID, token: Int64)
  /// The process ends of its own will.
  case ended
  /// The controller breaks something of a process; 0 for all.
  case fault(FaultKind, process: Int32)
  /// What was broken is whole again.
  case relief(FaultKind, process: Int32)

  /// As words that `init(_:)` reads.
  var words: [String] {
    switch self {
    case .intended(let job): ["intended", job.description]
    case .enqueued(let job): ["enqueued", job.description]
    case .absorbed(let job): ["absorbed", job.description]
    case .cancelled(let job): ["cancelled", job.description]
    case .began(let job, let token, let attempt): ["began", job.description, "\(token)", "\(attempt)"]
    case .left(let job, let token): ["left", job.description, "\(token)"]
    case .finished(let job, let token): ["finished", job.description, "\(token)"]
    case .ended: ["ended"]
    case .fault(let kind, let process): ["fault", kind.rawValue, "\(process)"]
    case .relief(let kind, let process): ["relief", kind.rawValue, "\(process)"]
    }
  }

  /// Reads words; nil if they are no event.
  init?(_ words: some RandomAccessCollection<Substring>) {
    let words = Array(words)
    func job(_ place: Int) -> PublicID? { place < words.count ? PublicID(words[place]) : nil }
    func number<Number: FixedWidthInteger>(_ place: Int) -> Number? {
      place < words.count ? Number(words[place]) : nil
    }
    switch words.first {
    case "intended": if let job = job(1) { self = .intended(job) } else { return nil }
    case "enqueued": if let job = job(1) { self = .enqueued(job) } else { return nil }
    case "absorbed": if let job = job(1) { self = .absorbed(job) } else { return nil }
    case "cancelled": if let job = job(1) { self = .cancelled(job) } else { return nil }
    case "began":
      guard let job = job(1), let token: Int64 = number(2), let attempt: Int = number(3) else { return nil }
      self = .began(job, token: token, attempt: attempt)
    case "left":
      guard let job = job(1), let token: Int64 = number(2) else { return nil }
      self = .left(job, token: token)
    case "finished":
      guard let job = job(1), let token: Int64 = number(2) else { return nil }
      self = .finished(job, token: token)
    case "ended": self = .ended
    case "fault", "relief":
      guard words.count == 3, let kind = FaultKind(rawValue: String(words[1])), let process: Int32 = number(2) else {
        return nil
      }
      self = words.first == "fault" ? .fault(kind, process: process) : .relief(kind, process: process)
    default: return nil
    }
  }
}
