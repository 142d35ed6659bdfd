extension Definition {
  /// How posts are judged by the daily window; every key is optional.
  package struct Window: Codable, Sendable, Hashable {
    /// What happens to a post that is not on time.
    package enum Treatment: String, NamedCases, Sendable {
      case accept
      case refuse
    }

    /// The time after the close in which a moment is still on time.
    package var graceSeconds: Double
    /// The time before the opening in which a moment is on time: clocks are a little slow, and times may have whole seconds.
    package var earlySeconds: Double
    /// The time after the close in which a moment may arrive and still counts by its time of recording.
    package var arrivalSeconds: Double
    /// The same for the beginning of its upload, which bounds what a client may claim.
    package var uploadSeconds: Double
    package var late: Treatment
    package var outside: Treatment

    package init(
      graceSeconds: Double = 60, earlySeconds: Double = 5, arrivalSeconds: Double = 86_400,
      uploadSeconds: Double = 86_400, late: Treatment = .accept, outside: Treatment = .accept
    ) {
      self.graceSeconds = graceSeconds
      self.earlySeconds = earlySeconds
      self.arrivalSeconds = arrivalSeconds
      self.uploadSeconds = uploadSeconds
      self.late = late
      self.outside = outside
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let standard = Window()
      func seconds(_ key: CodingKeys, _ standard: Double) throws -> Double {
        let seconds = try container.decodeIfPresent(Double.self, forKey: key) ?? standard
        guard 0...30 * 86_400 ~= seconds else {
          throw DecodingError.dataCorruptedError(
            forKey: key, in: container, debugDescription: "expected 0 to \(30 * 86_400)")
        }
        return seconds
      }
      graceSeconds = try seconds(.graceSeconds, standard.graceSeconds)
      earlySeconds = try seconds(.earlySeconds, standard.earlySeconds)
      arrivalSeconds = try seconds(.arrivalSeconds, standard.arrivalSeconds)
      uploadSeconds = try seconds(.uploadSeconds, standard.uploadSeconds)
      late = try container.decodeIfPresent(Treatment.self, forKey: .late) ?? standard.late
      outside = try container.decodeIfPresent(Treatment.self, forKey: .outside) ?? standard.outside
    }
  }
}
