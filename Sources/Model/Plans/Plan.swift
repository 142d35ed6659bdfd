/// The work of a run as plain data, computed from a definition and the facts of the inputs.
///
/// Its JSON is part of the recipe of the outputs: if a key or the text of a decision changes, reprocessing makes all
/// outputs again.
package struct Plan: Codable, Sendable, Hashable {
  package var definition: String
  package var version: Int
  package var limits: Limits
  /// The inputs; each is decoded once.
  package var inputs: [InputName: InputPlan]
  /// The checks that two clips belong to one moment; nil for one clip.
  package var moment: Definition.Moment?
  /// The composed videos, at most two. The rendition, stills and the preview are taken from the first.
  package var compositions: [CompositionPlan]
  package var rendition: RenditionPlan?
  package var clips: [ClipPlan]
  package var stills: [StillPlan]
  package var preview: PreviewPlan?
  /// Whether the run makes a first look, for which it decodes only the frames that the stills show; nil: it decodes and checks all.
  package var isLook: Bool?
  /// The choices of the planner.
  package var decisions: [Decision]

  package init(
    definition: String, version: Int, limits: Limits, inputs: [InputName: InputPlan],
    moment: Definition.Moment? = nil, compositions: [CompositionPlan] = [], rendition: RenditionPlan? = nil,
    clips: [ClipPlan] = [], stills: [StillPlan] = [], preview: PreviewPlan? = nil, decisions: [Decision]
  ) {
    self.definition = definition
    self.version = version
    self.limits = limits
    self.inputs = inputs
    self.moment = moment
    self.compositions = compositions
    self.rendition = rendition
    self.clips = clips
    self.stills = stills
    self.preview = preview
    self.decisions = decisions
  }

  /// The roles of the outputs, in a fixed order.
  package var outputs: [Role] {
    compositions.map(\.role) + (rendition.map { [$0.role] } ?? []) + clips.map(\.role) + stills.map(\.role)
      + (preview.map { [$0.role] } ?? [])
  }

  /// The first composed video.
  package var composition: CompositionPlan? { compositions.first }

  /// Whether sound is brought to a loudness.
  package var setsLoudness: Bool {
    compositions.contains { $0.audio?.loudness != nil || $0.otherAudio?.loudness != nil }
      || clips.contains { $0.audio?.loudness != nil }
  }
}

/// The work on one input.
package struct InputPlan: Codable, Sendable, Hashable {
  package var facts: ClipFacts
  /// Whether the audio is decoded or copied; audio that no output uses is skipped.
  package var readsAudio: Bool

  package init(facts: ClipFacts, readsAudio: Bool) {
    self.facts = facts
    self.readsAudio = readsAudio
  }
}

/// The work on one playable clip.
package struct ClipPlan: Codable, Sendable, Hashable {
  /// Whether packets are copied into a new container, or upright frames are encoded.
  package enum Mode: String, Codable, Sendable {
    case remux
    case encode
  }

  package var role: Role
  package var input: InputName
  package var mode: Mode
  /// The upright size: encoded, with even sides, or displayed if the packets are copied.
  package var size: Size
  /// Nil: the packets are copied.
  package var video: Definition.VideoEncoding?
  /// The maximum frame rate if the clip is encoded; nil: the rate of the other outputs.
  package var framesPerSecond: Int?
  /// Nil: no audio.
  package var audio: AudioPlan?

  package init(
    role: Role, input: InputName, mode: Mode, size: Size, video: Definition.VideoEncoding?,
    framesPerSecond: Int? = nil, audio: AudioPlan?
  ) {
    self.role = role
    self.input = input
    self.mode = mode
    self.size = size
    self.video = video
    self.framesPerSecond = framesPerSecond
    self.audio = audio
  }
}

/// The source of an output's audio.
package struct AudioPlan: Codable, Sendable, Hashable {
  /// Whether packets are copied, or decoded, resampled and encoded.
  package enum Mode: String, Codable, Sendable {
    case copy
    case encode
  }

  package var input: InputName
  package var mode: Mode
  /// The loudness to which encoded audio is brought, in LUFS; nil: it stays as it is.
  package var loudness: Double?

  /// The library that measures the loudness, by its name among the versions of the libraries.
  package static let loudnessLibrary = "libebur128"

  package init(input: InputName, mode: Mode, loudness: Double? = nil) {
    self.input = input
    self.mode = mode
    self.loudness = loudness
  }
}

/// The work on one still.
package struct StillPlan: Codable, Sendable, Hashable {
  package var role: Role
  /// The input that the frame is taken from; nil: the composition.
  package var input: InputName?
  /// The time of the frame in seconds from the start; after the end, the last frame is taken.
  package var at: Double
  /// The size, upright.
  package var size: Size
  /// The JPEG quality, 1 to 100.
  package var quality: Int

  package init(role: Role, input: InputName?, at: Double, size: Size, quality: Int) {
    self.role = role
    self.input = input
    self.at = at
    self.size = size
    self.quality = quality
  }
}

/// The work on the animated preview.
package struct PreviewPlan: Codable, Sendable, Hashable {
  package var role: Role
  /// The input that the frames are taken from; nil: the composition.
  package var input: InputName?
  /// The time of the first frame, in seconds from the start.
  package var at: Double
  /// The number of frames.
  package var frames: Int
  package var framesPerSecond: Int
  /// The size, upright.
  package var size: Size
  /// The WebP quality, 1 to 100.
  package var quality: Int

  // The key `pictures` is part of recipes.
  private enum CodingKeys: String, CodingKey {
    case role, input, at, framesPerSecond, size, quality
    case frames = "pictures"
  }

  package init(
    role: Role = .preview, input: InputName?, at: Double, frames: Int, framesPerSecond: Int, size: Size, quality: Int
  ) {
    self.role = role
    self.input = input
    self.at = at
    self.frames = frames
    self.framesPerSecond = framesPerSecond
    self.size = size
    self.quality = quality
  }
}

/// The threading of a run; the outputs are the same bytes in both modes.
package enum ExecutionMode: String, Codable, Sendable, CaseIterable {
  /// One thread per job: the least CPU time and memory, for machines with a job for each core.
  case throughput
  /// A thread for each decoder and for the encoder: a job ends sooner, for machines with idle cores.
  case latency
}
