package import BoxTesting

/// A clip with edit lists or disabled tracks, and the duration for which players show it.
package struct EditedClip: Sendable, CustomStringConvertible {
  package let description: String
  /// The encoded clip: track 0 is the video, audio tracks follow.
  package let clip: MarkedClip
  /// The edit lists by track. Other tracks have the edit list that the muxer writes.
  package var edits: [Int: [Edit]] = [:]
  /// Whether each track is enabled; if empty, the tracks are not changed.
  package var enabled: [Bool] = []
  /// The time from the start of the first frame to the end of the last one, as players show them.
  package let seconds: Double

  /// Returns the file.
  package func bytes() throws -> [UInt8] {
    var bytes = try TemporaryFile.bytes(of: clip.write())
    for (track, edits) in edits.sorted(by: { $0.key < $1.key }) {
      bytes = try Self.changed(editing(edits, ofTrack: track, of: bytes))
    }
    return enabled.isEmpty ? bytes : try Self.changed(enabling(enabled, of: bytes))
  }

  private struct NoSuchTrack: Error {}

  private static func changed(_ bytes: [UInt8]?) throws -> [UInt8] {
    guard let bytes else { throw NoSuchTrack() }
    return bytes
  }

  /// Creates a clip with one edit of `seconds` in its video track.
  package init(_ description: String, _ clip: MarkedClip, seconds: Double) {
    self.description = description
    self.clip = clip
    self.seconds = seconds
    edits = [0: [Edit(seconds, from: 0)]]
  }

  private init(
    _ description: String, of media: Double = 5, frames: [Edit] = [], audio: [Edit] = [], shown seconds: Double = 5,
    enabled: [Bool] = [], _ change: (inout MarkedClip) -> Void = { _ in }
  ) {
    self.description = description
    var clip = MarkedClip(.red, seconds: media, tone: .init(440))
    change(&clip)
    self.clip = clip
    if !frames.isEmpty { edits[0] = frames }
    if !audio.isEmpty { edits[1] = audio }
    self.enabled = enabled
    self.seconds = seconds
  }

  /// A clip of each kind.
  package static let all: [EditedClip] = [
    EditedClip("an empty edit in front", frames: [Edit(0.5, from: nil), Edit(5, from: 0)]),
    EditedClip("an edit that starts at a sync frame", of: 6, frames: [Edit(5, from: 1)]),
    EditedClip("an edit that starts between sync frames", of: 6, frames: [Edit(5, from: 0.5)]),
    EditedClip("an edit that ends before the media", of: 6, frames: [Edit(5, from: 0)]),
    EditedClip("an edit that is longer than the media", of: 4.6, frames: [Edit(5, from: 0)]),
    EditedClip("three edits", of: 9, frames: [Edit(2, from: 0), Edit(2, from: 3), Edit(1, from: 7)]),
    EditedClip("a second twice", frames: [Edit(2, from: 0), Edit(1, from: 1), Edit(2, from: 2)]),
    EditedClip("edits out of order", of: 6, frames: [Edit(2, from: 3), Edit(3, from: 0)]),
    EditedClip("a dwell", frames: [Edit(2, from: 0), Edit(1, from: 2, rate: 0), Edit(2, from: 2)]),
    EditedClip("a gap", frames: [Edit(2, from: 0), Edit(1, from: nil), Edit(2, from: 2)]),
    EditedClip("twice the speed", of: 10, frames: [Edit(5, from: 0, rate: 2)]),
    EditedClip(
      "several edits of the audio",
      audio: [Edit(0.3, from: nil), Edit(2, from: 1), Edit(1, from: nil), Edit(1.7, from: 2)]),
    EditedClip("edits of no length", frames: [Edit(0, from: 1), Edit(5, from: 0), Edit(0, from: nil)]),
    EditedClip("the first audio track disabled", enabled: [true, false, true]) { $0.secondTone = .init(1000) },
    EditedClip("B frames and an edit that starts between sync frames", of: 6, frames: [Edit(5, from: 0.5)]) {
      $0.isReordered = true
    },
    EditedClip("an open GOP with hidden leading frames") { $0.beginsWithOpenGOP = true },
    EditedClip("an open GOP with visible leading frames", frames: [Edit(5, from: 0)]) { $0.beginsWithOpenGOP = true },
    EditedClip("an open GOP of HEVC with hidden leading frames") { $0.makeOpenHEVC() },
    EditedClip("an open GOP of HEVC with visible leading frames", frames: [Edit(5, from: 0)]) { $0.makeOpenHEVC() },
  ]
}

extension MarkedClip {
  fileprivate mutating func makeOpenHEVC() {
    codec = .hevc
    beginsWithOpenGOP = true
  }
}
