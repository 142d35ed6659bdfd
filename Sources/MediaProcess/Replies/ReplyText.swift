import Glibc
import Model
import Platform

// Texts of a reply can repeat what is written in media: names of metadata, profiles and codecs. They are cleaned, not
// refused.

extension Reason {
  var cleaned: Reason {
    var reason = Reason(code, input: input, detail: detail.cleaned, seconds: seconds, byteOffset: byteOffset)
    reason.photo = photo
    return reason
  }
}

extension Warning {
  var cleaned: Warning { Warning(code, input: input, detail: detail.cleaned, seconds: seconds) }
}

extension Decision {
  var cleaned: Decision { Decision(subject, input: input, choice: choice.cleaned, reason: reason.cleaned) }
}

extension [IdentifyingMetadata] {
  // Files of cameras have about ten.
  private static let maxCount = 256

  /// The first entries, whose names the media determine.
  var cleaned: [IdentifyingMetadata] {
    prefix(Self.maxCount).map { IdentifyingMetadata(kind: $0.kind, key: $0.key.cleaned) }
  }
}

extension ClipFacts {
  var cleaned: ClipFacts {
    var facts = self
    facts.video.tag = video.tag.cleaned
    facts.video.profile = video.profile?.cleaned
    facts.video.pixelFormat = video.pixelFormat.cleaned
    facts.video.color = ColorFacts(
      range: video.color.range.cleaned, matrix: video.color.matrix.cleaned, primaries: video.color.primaries.cleaned,
      transfer: video.color.transfer.cleaned)
    facts.video.copyObstacle = video.copyObstacle?.cleaned
    facts.audio?.profile = audio?.profile?.cleaned
    facts.audio?.copyObstacle = audio?.copyObstacle?.cleaned
    facts.identifying = identifying.cleaned
    facts.unusedStreams = unusedStreams.map(\.cleaned)
    facts.undecodedSound = undecodedSound?.map(\.cleaned)
    return facts
  }
}

extension PhotoFacts {
  var cleaned: PhotoFacts {
    var facts = self
    facts.profile = profile?.cleaned
    facts.identifying = identifying.cleaned
    return facts
  }
}

extension MediaFailure {
  /// The failure that a child reports, as far as the parent believes it: with cleaned text, and never a cause that makes
  /// the service pause.
  ///
  /// - Parameter files: the files of the job; a full device is believed if the outputs cannot grow.
  func reported(by stage: MediaCrash.Stage, _ limits: MediaCrash.Limits, _ files: [OpenFile]) -> MediaFailure {
    switch kind {
    case .memoryLimitExceeded:
      return MediaFailure(kind, detail.cleaned, crash: MediaCrash(stage: stage, signal: nil, limits: limits))
    case .outOfSpace where files.contains(where: Self.isOnFullDevice): return MediaFailure(kind, detail.cleaned)
    // A damaged source is found when it is hashed after the attempt, which also shows an outage of the storage.
    case .outOfSpace, .unavailable, .internal: return MediaFailure(.internal, detail.cleaned)
    case .protocolViolation: return MediaFailure(kind, detail.cleaned)
    case .crashed, .deadlineExceeded, .interrupted, .cancelled:
      return MediaFailure(
        .protocolViolation,
        "the media process's reply is refused: failure.kind is \(kind.rawValue), which it cannot know")
    }
  }

  /// Whether an output, which is discarded after a failure, cannot grow; false for an input, which is not writable.
  private static func isOnFullDevice(_ output: OpenFile) -> Bool {
    var status = stat()
    guard fstat(output.descriptor.number, &status) == 0 else { return false }
    let failure = posix_fallocate(output.descriptor.number, status.st_size, 1 << 20)
    return failure == ENOSPC || failure == EDQUOT
  }
}
