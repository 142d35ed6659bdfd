package import FoundationEssentials

/// Whether a moment was posted on time, with regard to a daily window.
package struct Punctuality: NilEncodable, Sendable, Hashable {
  package enum State: String, Encodable, Sendable, CaseIterable {
    case onTime = "on_time"
    case late
    /// Before any window, or recorded before the window that was open or had closed when it arrived.
    case outside
  }

  package let state: State
  /// The time after the close of the window, in whole seconds; nil unless it is late.
  package let lateSeconds: Int?

  package init(state: State, lateSeconds: Int? = nil) {
    self.state = state
    self.lateSeconds = lateSeconds
  }
}

extension Punctuality {
  /// The times between which a window was open.
  package struct Window: Sendable, Hashable {
    package let opened: Date
    package let closes: Date

    package init(opened: Date, closes: Date) {
      self.opened = opened
      self.closes = closes
    }
  }

  /// The times of recording that are believed, relative to the arrival, in seconds: a phone may be offline for weeks, and its
  /// clock a little fast. As in the column `taken_at`.
  private static let believable = -30.0 * 86_400...300

  /// Returns the time of recording if it is believable, and not after the beginning of the upload; nil otherwise.
  package static func recorded(_ captured: Date?, began: Date, arrived: Date) -> Date? {
    guard let captured, believable.contains(captured.timeIntervalSince(arrived)) else { return nil }
    return min(captured, began)
  }

  /// Judges a moment.
  ///
  /// By the time of recording a moment is on time if it was recorded in a window or the grace before and after it, and was not
  /// uploaded and did not arrive much later. Otherwise the window counts that was the last to open before it arrived.
  ///
  /// - Parameters:
  ///   - recorded: the believable time of recording; nil: it is judged by its arrival.
  ///   - began: when its upload began.
  ///   - ofRecording: the last window that had opened at the time of recording, or in the grace after it.
  ///   - ofArrival: the last window that had opened at the arrival.
  package init(
    recorded: Date?, began: Date, arrived: Date, ofRecording: Window?, ofArrival: Window?, _ rule: Definition.Window
  ) {
    func isBelieved(_ window: Window) -> Bool {
      arrived <= window.closes + rule.arrivalSeconds && began <= window.closes + rule.uploadSeconds
    }
    if let recorded, let window = ofRecording, recorded <= window.closes + rule.graceSeconds, isBelieved(window) {
      self.init(state: .onTime)
      return
    }
    guard let window = ofArrival else {
      self.init(state: .outside)
      return
    }
    if let recorded, recorded < window.opened - rule.earlySeconds {
      self.init(state: .outside)
      return
    }
    // What comes too late to be believed is judged by its arrival.
    let time = recorded.flatMap { isBelieved(window) ? $0 : nil } ?? arrived
    let late = time.timeIntervalSince(window.closes)
    if late <= rule.graceSeconds {
      self.init(state: .onTime)
    } else {
      self.init(state: .late, lateSeconds: Int(min(late, Double(Int32.max)).rounded(.up)))
    }
  }
}

extension Definition.Window {
  /// Whether a post may be submitted that is judged so.
  package func accepts(_ punctuality: Punctuality?) -> Bool {
    switch punctuality?.state {
    case .late: late == .accept
    case .outside: outside == .accept
    case .onTime, nil: true
    }
  }
}
