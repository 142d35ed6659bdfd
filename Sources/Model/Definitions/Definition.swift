/// A JSON document in `jobs/` that names the outputs of clips; the database stores it under its hash.
package struct Definition: Codable, Sendable, Hashable {
  package var name: String
  package var version: Int
  /// The longest time of one attempt.
  package var deadlineSeconds: Int
  /// The number of attempts before the job is dead.
  package var attempts: Int
  package var inputs: [InputName: Input]
  package var limits: Limits
  /// The checks that two clips belong to one moment; nil: the defaults.
  package var moment: Moment?
  /// How posts are judged by the daily window; nil: the defaults.
  package var window: Window?
  /// Whether posts are held until a decision; nil: they are not.
  package var moderation: ModerationRule?
  /// Who sees the first look of a post; nil: the author.
  package var look: LookAudience?
  /// The frame of the composition; 1080 x 1920 at 30 frames per second by default.
  package var canvas: Canvas
  package var outputs: Outputs
  /// Whether the sources are kept for reprocessing.
  package var keepSources: Bool

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    deadlineSeconds = try container.decode(Int.self, forKey: .deadlineSeconds)
    attempts = try container.decode(Int.self, forKey: .attempts)
    inputs = try container.decode(named: InputName.allCases, forKey: .inputs)
    limits = try container.decode(Limits.self, forKey: .limits)
    moment = try container.decodeIfPresent(Moment.self, forKey: .moment)
    window = try container.decodeIfPresent(Window.self, forKey: .window)
    moderation = try container.decodeIfPresent(ModerationRule.self, forKey: .moderation)
    look = try container.decodeIfPresent(LookAudience.self, forKey: .look)
    canvas = try container.decodeIfPresent(Canvas.self, forKey: .canvas) ?? Canvas()
    outputs = try container.decode(Outputs.self, forKey: .outputs)
    keepSources = try container.decode(Bool.self, forKey: .keepSources)
    try checkRanges()
  }
}

extension Definition {
  /// The requirements on one input.
  package struct Input: Codable, Sendable, Hashable {
    /// A type of media.
    package enum Kind: String, NamedCases, Sendable {
      case video
    }

    package var kind: Kind
  }
}

extension Definition {
  /// The checks that two clips belong to one moment; every key is optional.
  package struct Moment: Codable, Sendable, Hashable {
    /// The treatment of clips that may not belong to one moment.
    package enum Doubt: String, NamedCases, Sendable {
      case warn
      case refuse
    }

    /// Whether the clips are aligned in time by their audio.
    package var align: Bool
    package var doubt: Doubt
    /// The largest difference between the times of recording.
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

/// A definition for clips or for photos; the JSON of the latter has the key `variants`.
package enum MediaDefinition: Decodable, Sendable, Hashable {
  case clips(Definition)
  case photos(PhotoDefinition)

  private enum CodingKeys: CodingKey {
    case variants
  }

  /// Decodes the type that the keys call for; throws the errors of that type.
  package init(from decoder: any Decoder) throws {
    if try decoder.container(keyedBy: CodingKeys.self).contains(.variants) {
      self = .photos(try PhotoDefinition(from: decoder))
    } else {
      self = .clips(try Definition(from: decoder))
    }
  }
}
