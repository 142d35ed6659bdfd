import Model

/// Decides whether two clips show one moment, by their audio and their recording times, and computes their alignment.
struct MomentCheck {
  let report: MomentReport
  /// Nil if a clip has no audio.
  let alignment: AudioAlignment?
  /// The finding that they may not show one moment; nil without one.
  let doubt: String?

  /// - Parameters:
  ///   - audio: of both clips; nil if a clip has none.
  ///   - maxOffset: the largest offset that clips usually have, in seconds.
  init(
    front: ClipFacts, back: ClipFacts, audio: (front: AudioScan, back: AudioScan)?, rule: Definition.Moment,
    maxOffset: Double
  ) {
    let alignment = audio.map { audio in
      AudioAlignment.find(audio.front.detail, audio.back.detail, maxOffset: maxOffset)
    }
    let isAligned = alignment?.outcome == .aligned
    let apart = front.recorded.flatMap { front in back.recorded.map { abs(front - $0) } }
    self.alignment = alignment
    report = MomentReport(
      offsetSeconds: isAligned ? alignment?.offset : nil, confidence: alignment?.confidence ?? 0,
      recordedDifference: apart)
    if isAligned {
      // Audio that matches outweighs clocks that disagree.
      doubt = nil
    } else if alignment?.outcome == .contradicting {
      doubt = "the clips' audio has nothing in common"
    } else if let apart, apart > rule.recordedSeconds {
      doubt = "the clips were recorded \(apart.hundredths) s apart"
    } else {
      doubt = nil
    }
  }

  /// The result, for the decision log.
  var decision: Decision? {
    guard let alignment else { return nil }
    let confidence = alignment.confidence.hundredths
    switch alignment.outcome {
    case .aligned:
      let milliseconds = Int((alignment.offset * 1000).rounded())
      return Decision(
        .alignment, choice: "the front's audio is \(milliseconds) ms behind the back's",
        reason: "the audio of both clips matches, confidence \(confidence)")
    case .undecided:
      return Decision(
        .alignment, choice: "none", reason: "the audio matches at several offsets or at none, confidence \(confidence)")
    case .contradicting:
      return Decision(.alignment, choice: "none", reason: "the audio has nothing in common")
    }
  }
}
