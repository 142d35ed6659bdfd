import Crypto
package import Model

/// What a media process is given of a submission: one file, or both clips of a moment. Its hash is the same in every
/// submission of the same bytes.
struct MediaInput: Sendable, Hashable {
  let hash: SHA256Digest
  /// Nil for both clips of a moment.
  let name: InputName?
  /// The index of a photo.
  let photo: Int?

  /// The inputs that can be quarantined among the sources of a submission: each file, and both clips together.
  static func all(of sources: [(role: Role, place: Int, hash: SHA256Digest)]) -> [MediaInput] {
    let files = sources.compactMap { source -> MediaInput? in
      guard case .source(let name) = source.role.kind else { return nil }
      return MediaInput(hash: source.hash, name: name, photo: name == .photo ? source.place : nil)
    }
    guard let front = files.first(where: { $0.name == .front }), let back = files.first(where: { $0.name == .back })
    else { return files }
    return files + [MediaInput(hash: hash(ofMoment: front.hash, back.hash), name: nil, photo: nil)]
  }

  static func hash(ofMoment front: SHA256Digest, _ back: SHA256Digest) -> SHA256Digest {
    SHA256.digest(of: front.bytes + back.bytes)
  }

  /// The reason why the input is refused once it is quarantined.
  var refusal: Reason {
    var reason = Reason(.quarantined, input: name, finding: "a media process ended on these bytes repeatedly")
    reason.photo = photo
    return reason
  }
}

/// A crash that the media caused: the media process ended by its own fault, or at one of its limits.
package struct CrashFacts: Sendable, Hashable, CustomStringConvertible {
  /// The code of the reason if the media are rejected.
  package let code: ReasonCode
  /// What happened, in a few words.
  package let error: String
  /// The index of the photo that the media process was given; nil for clips.
  package let photo: Int?
  /// The request, such as `run`; nil: unknown.
  package let stage: String?
  /// The name of the signal; nil if the process ended without one.
  package let signal: String?
  /// The limits of the process, as JSON; nil: unknown.
  package let limits: String?

  package init(
    code: ReasonCode, error: String, photo: Int? = nil, stage: String? = nil, signal: String? = nil,
    limits: String? = nil
  ) {
    self.code = code
    self.error = error
    self.photo = photo
    self.stage = stage
    self.signal = signal
    self.limits = limits
  }

  package var description: String { "\(code.rawValue): \(error)" }
}

extension Work {
  /// The hashes that the crashes of attempts are counted by: one for a moment or a clip, one for each photo.
  var inputs: [SHA256Digest] {
    switch content {
    case .moment(let moment): [MediaInput.hash(ofMoment: moment.front, moment.back)]
    case .clip(let clip): [clip.clip]
    case .photos(let photos): photos.photos
    }
  }
}
