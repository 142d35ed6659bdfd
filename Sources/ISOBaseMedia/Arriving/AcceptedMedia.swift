package import Model

/// The media that an upload may be: a clip, a photo, or either, as long as its use is not known.
package struct AcceptedMedia: Sendable, Hashable {
  /// Nil: clips are not accepted.
  let clip: Limits?
  /// The name of a clip in reasons.
  let clipName: InputName
  /// Nil: photos are not accepted.
  let photo: PhotoLimits?

  /// A clip under the limits of its definition.
  package init(clip limits: Limits, as name: InputName) {
    (clip, clipName, photo) = (limits, name, nil)
  }

  /// A photo under the limits of its definition.
  package init(photo limits: PhotoLimits) {
    (clip, clipName, photo) = (nil, .clip, limits)
  }

  /// What any of several definitions accepts: a file is refused only if each of them refuses it.
  package init(anyOf clips: [Limits], _ photos: [PhotoLimits]) {
    clip = clips.dropFirst().reduce(clips.first) { $0?.loosest(with: $1) }
    clipName = .clip
    photo = photos.dropFirst().reduce(photos.first) { $0?.loosest(with: $1) }
  }

  /// The length of the longest file.
  package var maxBytes: Int64 { max(clip?.bytes ?? 0, photo?.bytes ?? 0) }
}

extension Limits {
  fileprivate func loosest(with other: Limits) -> Limits {
    var loosest = self
    loosest.seconds = zip(seconds, other.seconds).map {
      SecondsRange(shortest: min($0.shortest, $1.shortest), longest: max($0.longest, $1.longest))
    }
    loosest.bytes = max(bytes, other.bytes)
    loosest.pixels = max(pixels, other.pixels)
    loosest.framesPerSecond = max(framesPerSecond, other.framesPerSecond)
    loosest.streams = max(streams, other.streams)
    loosest.containers += other.containers.filter { !containers.contains($0) }
    loosest.videoCodecs += other.videoCodecs.filter { !videoCodecs.contains($0) }
    loosest.audioCodecs = zip(audioCodecs, other.audioCodecs).map { own, others in
      own + others.filter { !own.contains($0) }
    }
    loosest.differenceSeconds = max(differenceSeconds, other.differenceSeconds)
    return loosest
  }
}

extension PhotoLimits {
  fileprivate func loosest(with other: PhotoLimits) -> PhotoLimits {
    PhotoLimits(
      bytes: max(bytes, other.bytes), pixels: max(pixels, other.pixels),
      headerPixels: [headerPixels, other.headerPixels].compactMap(\.self).max(),
      progressivePixels: max(progressivePixels, other.progressivePixels),
      formats: formats + other.formats.filter { !formats.contains($0) })
  }
}

/// Both values; nil if one is missing, which means no limit.
private func zip<Value>(_ one: Value?, _ other: Value?) -> (Value, Value)? {
  guard let one, let other else { return nil }
  return (one, other)
}
