package import MediaProcess
package import Model

/// How far a mutation came, and how it ended.
package struct Outcome: Sendable {
  /// The stages of the work on media, in their order.
  package enum Depth: Int, Sendable, CaseIterable {
    case submitted
    /// The walk accepts the boxes of each clip; the format of a photo is known.
    case walked
    /// The headers describe a video or an image.
    case probed
    /// A decoder decodes: it gave the first frames of each clip, or the data of the photo.
    case decoded
    /// All outputs are made, and the parent's checks hold.
    case composed
    /// The outputs are stored.
    case published
  }

  /// The end of a mutation.
  package enum Ending: Sendable {
    case accepted
    case refused(ReasonCode)
    /// A failure that gives no verdict, or one that the media caused at a limit or by a signal.
    case failed(MediaFailure)
    /// Something does not hold that must hold for all inputs.
    case violated(String)
  }

  package var depth: Depth
  package var ending: Ending

  package init(depth: Depth, ending: Ending) {
    self.depth = depth
    self.ending = ending
  }

  /// The key under which it is counted.
  var key: String {
    switch ending {
    case .accepted: "accepted"
    case .refused(let code): "refused \(code.rawValue)"
    case .failed(let failure):
      switch failure.refusalCode {
      case let code?: "refused \(code.rawValue)" + (failure.crash?.signal.map { " \($0)" } ?? "")
      case nil: "failed \(failure.kind.rawValue)"
      }
    case .violated: "violated"
    }
  }

  /// The description of an end that must be looked into; nil for a verdict.
  ///
  /// A child that crashes inside a library is permitted: the worker lives and refuses the media. It is reported.
  package var finding: String? {
    switch ending {
    case .accepted, .refused: nil
    case .failed(let failure) where failure.kind == .memoryLimitExceeded: nil
    case .failed(let failure): failure.description
    case .violated(let text): text
    }
  }
}
