/// The result of validation, the same on the command line and over HTTP.
package struct Verdict: Codable, Sendable, Hashable {
  /// Accepted or rejected.
  package enum Outcome: String, Codable, Sendable {
    case accepted
    case rejected
  }

  /// The outcome, under the key `verdict` in JSON.
  package var verdict: Outcome
  /// The reasons of a rejection; empty if accepted.
  package var reasons: [Reason]
  /// Warnings about the media, accepted or not.
  package var warnings: [Warning]
  /// The properties of each readable input.
  package var inputs: [InputName: InputReport]
  /// The relation of the two clips; nil for one clip, and if it was not examined.
  package var moment: MomentReport?
  /// The choices of the planner and of the run.
  package var decisions: [Decision]
  /// The properties of each photo; nil for clips.
  package var photos: [PhotoFacts]?

  package init(
    reasons: [Reason], warnings: [Warning] = [], inputs: [InputName: InputReport],
    moment: MomentReport? = nil, decisions: [Decision], photos: [PhotoFacts]? = nil
  ) {
    verdict = reasons.isEmpty ? .accepted : .rejected
    self.reasons = reasons
    self.warnings = warnings
    self.inputs = inputs
    self.moment = moment
    self.decisions = decisions
    self.photos = photos
  }

  /// The verdict reduced to the outcome and the codes of the reasons, for findings that the database rejects.
  package var withoutFindings: Verdict {
    let reasons = reasons.map { reason in
      var plain = Reason(reason.code, input: reason.input, detail: "What was found cannot be stored.")
      plain.photo = reason.photo
      return plain
    }
    var verdict = Verdict(reasons: reasons, inputs: [:], decisions: [])
    verdict.verdict = self.verdict
    return verdict
  }

  /// The reasons in one line.
  package var reasonText: String { reasons.map { "\($0.code.rawValue): \($0.detail)" }.joined(separator: "; ") }
}

/// The properties of one input after probing and, if it was decoded, after decoding.
package struct InputReport: Codable, Sendable, Hashable {
  package var facts: ClipFacts
  /// The number of decoded frames; nil if the input was not decoded.
  package var frames: Int?
  /// The time from the start of the first decoded frame to the end of the last, in seconds.
  package var decodedSeconds: Double?
  /// The presentation time of the first frame after edit lists, in seconds.
  package var start: Double?
  /// The integrated loudness of its audio (EBU R 128), in LUFS; nil without audio, of silence, and of less than 0.4 s.
  package var loudnessLufs: Double?

  package init(
    facts: ClipFacts, frames: Int? = nil, decodedSeconds: Double? = nil, start: Double? = nil,
    loudnessLufs: Double? = nil
  ) {
    self.facts = facts
    self.frames = frames
    self.decodedSeconds = decodedSeconds
    self.start = start
    self.loudnessLufs = loudnessLufs
  }
}

/// The relation of two clips in time, for players that switch cameras.
package struct MomentReport: Codable, Sendable, Hashable {
  /// The time of an event in the front clip minus its time in the back clip, in seconds; nil if the audio is unrelated.
  package var offsetSeconds: Double?
  /// The confidence of the offset, 0 to 1.
  package var confidence: Double
  /// The difference between the times of recording in seconds; nil if a file has none.
  package var recordedDifference: Double?
  /// The clip whose audio replaces the silent audio of the foreground; nil: the composed video has the planned audio.
  package var sound: InputName?

  package init(offsetSeconds: Double?, confidence: Double, recordedDifference: Double?, sound: InputName? = nil) {
    self.offsetSeconds = offsetSeconds
    self.confidence = confidence
    self.recordedDifference = recordedDifference
    self.sound = sound
  }
}

/// One choice of the planner or of the run, with its reason.
package struct Decision: Codable, Sendable, Hashable {
  /// The subject of a choice.
  package enum Subject: String, Codable, Sendable {
    case videoStream = "video_stream"
    case audioStream = "audio_stream"
    case unusedStreams = "unused_streams"
    case transform
    case deinterlacing
    case layout
    case scaling
    case alignment
    case trimming
    case timeGrid = "time_grid"
    case audio
    case clip
    case color
    case privacy
  }

  package let subject: Subject
  /// The input; nil if the choice concerns the output.
  package let input: InputName?
  /// The choice in a word or a short phrase.
  package let choice: String
  /// The reason in a sentence.
  package let reason: String

  package init(_ subject: Subject, input: InputName? = nil, choice: String, reason: String) {
    self.subject = subject
    self.input = input
    self.choice = choice
    self.reason = reason
  }
}

/// The result of a run: the verdict and, if accepted, the outputs.
package struct RunReport: Codable, Sendable, Hashable {
  package var verdict: Verdict
  /// Empty if the media were rejected.
  package var outputs: [OutputFacts]

  package init(verdict: Verdict, outputs: [OutputFacts]) {
    self.verdict = verdict
    self.outputs = outputs
  }
}

/// The properties of one output of a run.
package struct OutputFacts: Codable, Sendable, Hashable {
  package var role: Role
  /// The media type (RFC 6838).
  package var type: String
  package var bytes: Int64
  /// The width in pixels, upright.
  package var width: Int
  package var height: Int
  /// The duration in seconds; nil for images.
  package var duration: Double?
  /// The ThumbHash of an image in base64.
  package var thumbhash: String?
  /// The integrated loudness of a video's sound (EBU R 128), in LUFS; nil for images, without sound, and if it is not known.
  package var loudnessLufs: Double?

  package init(
    role: Role, type: String, bytes: Int64, width: Int, height: Int, duration: Double? = nil, thumbhash: String? = nil,
    loudnessLufs: Double? = nil
  ) {
    self.role = role
    self.type = type
    self.bytes = bytes
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
    self.loudnessLufs = loudnessLufs
  }
}
