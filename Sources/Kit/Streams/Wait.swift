package import HTTPServer
internal import Model

/// How long a request waits, and for what: `wait=20`, or `wait=20; for=look`.
package struct Wait: CustomStringConvertible {
  /// What a client wants to see.
  package enum Goal: String, CaseIterable {
    /// The outputs, or the reason why there are none.
    case ready
    /// Something of the media, or the same.
    case look
  }

  /// The maximum time that a request waits: less than the 60 s after which URLSession and nginx give up by default.
  static let maxSeconds = 50

  /// At most `maxSeconds`; 0: it does not wait.
  package let seconds: Int
  package let goal: Goal

  package var description: String { "wait=\(seconds)" + (goal == .look ? "; for=look" : "") }

  /// Reads the parameters `wait` and `for`, or else the preference. A longer time is cut.
  package init(_ reader: inout QueryReader, _ request: Request) {
    seconds = Self.seconds(&reader, request)
    goal = reader.choice("for", of: Goal.self) ?? Wait(preferredBy: request.headers)?.goal ?? .ready
  }

  /// Reads for how many seconds a request waits for the end of a job.
  package static func seconds(_ reader: inout QueryReader, _ request: Request) -> Int {
    min(
      reader.number("wait", in: 0...86_400) ?? Wait(preferredBy: request.headers)?.seconds ?? 0,
      maxSeconds)
  }

  /// Reads the preference `wait=N` with its parameter `for` (RFC 7240, section 2); nil if it is absent or invalid.
  package init?(preferredBy headers: HeaderFields) {
    for preference in headers.list("Prefer") {
      let parts = preference.split(separator: ";").map { part in
        part.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks }
      }
      guard let wait = parts.first, wait.count == 2, wait[0].lowercasedASCII == "wait", let seconds = Int(wait[1]),
        seconds > 0
      else { continue }
      self.seconds = min(seconds, Self.maxSeconds)
      let wanted = parts.dropFirst().first { $0.count == 2 && $0[0].lowercasedASCII == "for" }
      goal = wanted.flatMap { Goal(named: $0[1].lowercasedASCII) } ?? .ready
      return
    }
    return nil
  }
}
