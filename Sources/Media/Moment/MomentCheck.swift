import Model

/// Whether two clips are one moment, by their sounds and the times of their recording, and how they lie in time.
struct MomentCheck {
  let report: MomentReport
  /// Set where the sounds say it.
  let alignment: AudioAlignment?
  /// Why they may not be one moment, as a finding; nil where nothing speaks against it.
  let doubt: String?

  /// - Parameters:
  ///   - sounds: of both clips; nil where one has none.
  ///   - most: the largest offset that is looked for, in seconds.
  init(
    front: ClipFacts, back: ClipFacts, sounds: (front: AudioScan, back: AudioScan)?, rule: Definition.Moment,
    most: Double
  ) {
    let alignment = sounds.map { sounds in
      AudioAlignment(sounds.front.detail, sounds.back.detail, rate: AudioScan.rate, most: most)
    }
    let isAligned = alignment?.outcome == .aligned
    let apart = front.recorded.flatMap { front in back.recorded.map { abs(front - $0) } }
    self.alignment = alignment
    report = MomentReport(
      offsetSeconds: isAligned ? alignment?.offset : nil, confidence: alignment?.confidence ?? 0,
      recordedDifference: apart)
    if isAligned {
      // One sound in both proves more than two clocks that disagree.
      doubt = nil
    } else if alignment?.outcome == .contradicting {
      doubt = "the clips' sounds have nothing in common"
    } else if let apart, apart > rule.recordedSeconds {
      doubt = "the clips were recorded \(DurationRule.text(apart)) s apart"
    } else {
      doubt = nil
    }
  }

  /// What was found, for the decision log.
  var decision: Decision? {
    guard let alignment else { return nil }
    let confidence = DurationRule.text(alignment.confidence)
    switch alignment.outcome {
    case .aligned:
      let milliseconds = Int((alignment.offset * 1000).rounded())
      return Decision(
        .alignment, choice: "the front's sound is \(milliseconds) ms behind the back's",
        reason: "both recorded one sound, confidence \(confidence)")
    case .undecided:
      return Decision(
        .alignment, choice: "none", reason: "the sounds fit at several offsets or at none, confidence \(confidence)")
    case .contradicting:
      return Decision(.alignment, choice: "none", reason: "the sounds have nothing in common")
    }
  }
}
