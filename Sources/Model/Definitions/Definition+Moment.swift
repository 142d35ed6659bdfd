extension Definition {
  /// What makes two clips one moment; every part may be left out.
  package struct Moment: Codable, Sendable, Hashable {
    /// What becomes of clips that may not be of one moment.
    package enum Doubt: String, Codable, Sendable {
      case warn
      case refuse
    }

    /// Whether the clips are brought together in time by the sound that both recorded.
    package var align: Bool
    package var doubt: Doubt
    /// By which the times of recording may differ.
    package var recordedSeconds: Double

    package init(align: Bool = true, doubt: Doubt = .warn, recordedSeconds: Double = 10) {
      self.align = align
      self.doubt = doubt
      self.recordedSeconds = recordedSeconds
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let standard = Moment()
      align = try container.decodeIfPresent(Bool.self, forKey: .align) ?? standard.align
      doubt = try container.decodeIfPresent(Doubt.self, forKey: .doubt) ?? standard.doubt
      recordedSeconds =
        try container.decodeIfPresent(Double.self, forKey: .recordedSeconds) ?? standard.recordedSeconds
    }
  }
}
