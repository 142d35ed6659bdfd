internal import HTTPServer
internal import Kit
internal import Model

/// The media of a submission, each a file or the upload that will be one.
enum SubmissionMedia<File: Sendable>: Sendable {
  /// Both clips of a moment.
  case moment([Camera: File])
  /// A marker's video.
  case clip(File)
  /// The photos of a post in the order of their parts, or the image of a marker; may be empty.
  case photos([File])
}

extension SubmissionMedia {
  /// Arranges the files of a post as its kind demands; throws a problem that names what is missing or not allowed.
  ///
  /// - Parameter textField: the name of the field for the text of a post without media.
  init(_ parts: [SubmissionPart: [File]], of draft: PostDraft, textField: String) throws {
    let cameras = Camera.allCases.reduce(into: [:]) { clips, camera in
      clips[camera] = SubmissionPart(rawValue: camera.rawValue).flatMap { parts[$0]?.first }
    }
    let missingClips = Camera.allCases.filter { cameras[$0] == nil }.map(\.rawValue)
    if draft.kind == .take5, !missingClips.isEmpty { throw ProblemKind.missing(parts: missingClips) }
    let allowed = SubmissionPart.media(of: draft.kind)
    for part in SubmissionPart.allCases where parts[part] != nil && !allowed.contains(part) {
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

/// The names of the parts with media.
enum SubmissionPart: String, CaseIterable, Sendable {
  case front
  case back
  case video
  case image
  case photo

  /// Returns the parts that a kind of post may have.
  static func media(of kind: PostKind) -> Set<SubmissionPart> {
    switch kind {
    case .take5: [.front, .back]
    case .photo: [.photo]
    case .marker: [.image, .video]
    }
  }
}
