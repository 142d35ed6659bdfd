internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Kit
internal import Model
internal import Store

/// The media of a submission, each a file or the upload that will be one.
enum ArrangedMedia<File: Sendable>: Sendable {
  /// Both clips of a moment.
  case moment([Camera: File])
  /// A marker's video.
  case clip(File)
  /// The photos of a post in the order of their parts, or the image of a marker; may be empty.
  case photos([File])
}

extension ArrangedMedia {
  /// Arranges the files of a post as its kind demands; throws a problem that names what is missing or not allowed.
  ///
  /// - Parameter textField: the name of the field for the text of a post without media.
  init(_ parts: [MediaPart: [File]], of draft: PostDraft, textField: String) throws {
    let cameras = Camera.allCases.reduce(into: [:]) { clips, camera in
      clips[camera] = MediaPart(rawValue: camera.rawValue).flatMap { parts[$0]?.first }
    }
    let missingClips = Camera.allCases.filter { cameras[$0] == nil }.map(\.rawValue)
    if draft.kind == .take5, !missingClips.isEmpty { throw ProblemKind.missing(parts: missingClips) }
    let allowed = MediaPart.media(of: draft.kind)
    for part in MediaPart.allCases where parts[part] != nil && !allowed.contains(part) {
      throw ProblemKind.unknown(part: part.rawValue)
    }
    if draft.kind == .take5 {
      self = .moment(cameras)
      return
    }
    let photos = (parts[.photo] ?? []) + (parts[.image] ?? [])
    if let clip = parts[.video]?.first {
      guard photos.isEmpty else {
        throw ProblemKind.unknownPart.problem(
          "A marker has an image or a video, not both.", errors: [FieldError("video", "is sent together with an image")]
        )
      }
      self = .clip(clip)
      return
    }
    if photos.isEmpty { try Self.checkText(draft, field: textField) }
    self = .photos(photos)
  }

  /// Throws a problem if a post without media has neither a caption nor a title.
  private static func checkText(_ draft: PostDraft, field: String) throws {
    guard (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty else { return }
    throw ProblemKind.invalidFields.problem(
      "A post without media needs a caption or a title.",
      errors: [FieldError(field, "is required without media and title")])
  }
}

extension ArrangedMedia<JudgedFile> {
  /// The files with their roles, in the order of the parts.
  var files: [(Role, JudgedFile)] {
    switch self {
    case .moment(let clips): Camera.allCases.compactMap { camera in clips[camera].map { (Role.source(camera), $0) } }
    case .clip(let clip): [(.sourceClip, clip)]
    case .photos(let photos): photos.map { (Role.sourcePhoto, $0) }
    }
  }

  /// Returns the files as assets; throws `MediaRefusal` if one is refused, or both clips of a moment are the same file.
  func sources() throws(MediaRefusal) -> [NewAsset] {
    if case .moment(let clips) = self, let front = clips[.front], let back = clips[.back],
      front.content.hash == back.content.hash
    {
      throw MediaRefusal(reasons: [.sameFileTwice])
    }
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for (index, (role, file)) in files.enumerated() {
      switch file.type {
      case .success(let type):
        let place = role == .sourcePhoto ? index : 0
        sources.append(NewAsset(role: role, type: type, content: file.content, place: place))
      case .failure(let refusal):
        var reason = refusal.reason
        if role == .sourcePhoto { reason.photo = index }
        reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw MediaRefusal(reasons: reasons) }
    return sources
  }
}

/// The names of the parts with media.
enum MediaPart: String, CaseIterable, Sendable {
  case front
  case back
  case video
  case image
  case photo

  /// Returns the parts that a kind of post may have.
  static func media(of kind: PostKind) -> Set<MediaPart> {
    switch kind {
    case .take5: [.front, .back]
    case .photo: [.photo]
    case .marker: [.image, .video]
    }
  }
}

/// What submissions may consist of.
extension SubmissionDefinitions {
  /// The definition that the media of a post are processed with.
  func definition(of media: ArrangedMedia<JudgedFile>) -> MediaDefinition {
    switch media {
    case .moment: .clips(moment)
    case .clip: .clips(clip)
    case .photos: .photos(photo(Self.photoPost))
    }
  }

  /// What a part of a post may be.
  func accepted(_ part: MediaPart) -> AcceptedMedia {
    switch part {
    case .front: AcceptedMedia(clip: moment.limits, as: .front)
    case .back: AcceptedMedia(clip: moment.limits, as: .back)
    case .video: AcceptedMedia(clip: clip.limits, as: .clip)
    case .photo, .image:
      photos[Self.photoPost].map { AcceptedMedia(photo: $0.limits) } ?? anyUse
    }
  }
}
