internal import HTTPServer
internal import Model
internal import Store

/// A parsed submission: the post and its media, which are staged, hashed and judged.
struct SubmissionForm: Sendable {
  /// The media of a submission, each a file or the upload that will be one.
  enum Media<File: Sendable>: Sendable {
    /// Both clips of a moment.
    case moment([Camera: File])
    /// A marker's video.
    case clip(File)
    /// The photos of a post in the order of their parts, or the image of a marker; may be empty.
    case photos([File])
  }

  /// Where the media are.
  enum Content: Sendable {
    case files(Media<JudgedFile>)
    /// Bytes of some of the uploads are still to come.
    case awaited([AwaitedUpload])
    /// An upload does not exist. An earlier request with the same idempotency key may have used it.
    case missing(Problem)
  }

  let draft: PostDraft
  /// The received fields without the media; part of the payload that an idempotency key is compared by.
  let text: [[UInt8]]
  let content: Content
  /// The uploads that the submission names; nil: it has sent files.
  var references: UploadReferences?

  /// The maximum total length of the fields in bytes.
  static let maxTextBytes = 64 << 10

  /// The maximum length of a form without media in bytes, including the delimiters of its parts.
  static let maxTextFormBytes = Int64(maxTextBytes) + 4096

  /// The bytes of a form besides its media: the fields, and the delimiters and headers of its parts.
  private static let maxOtherBytes: Int64 = 1 << 20

  /// The limits of the parts of a form.
  struct PartLimits: Sendable {
    /// The maximum length of each clip of a moment.
    let momentBytes: Int64
    /// The maximum length of a marker's video.
    let clipBytes: Int64
    /// The maximum length of a photo.
    let photoBytes: Int64
    /// The maximum number of photos.
    let photos: Int

    /// The maximum length of a form: the media, the fields and the delimiters.
    var formBytes: Int64 {
      max(Int64(Camera.allCases.count) * momentBytes, clipBytes, Int64(photos) * photoBytes) + maxOtherBytes
    }

    /// Returns the maximum length of a part.
    func bytes(of part: SubmissionPart) -> Int64 {
      switch part {
      case .front, .back: momentBytes
      case .video: clipBytes
      case .photo, .image: photoBytes
      }
    }
  }

  /// Reads the form of a request, whose files are written to the blob store as they arrive. Throws a problem that names the
  /// invalid part or field.
  static func form(
    of request: Request, space: MediaSpace, limits: PartLimits, definitions: SubmissionDefinitions
  ) async throws -> SubmissionForm {
    var form = FormReader(
      space: space, limits: limits, definitions: definitions, length: request.head.contentLength,
      user: request.caller.user)
    do {
      // One more part than a valid form can have, so that the error can name it.
      var reader = try MultipartReader(
        request,
        limits: MultipartLimits(
          parts: limits.photos + SubmissionPart.allCases.count + PostField.allCases.count,
          partBytes: SubmissionPart.allCases.map { limits.bytes(of: $0) }.max() ?? 0))
      while let event = try await reader.next() {
        switch event {
        case .part(let header): try form.beginPart(header.name)
        case .bytes(let bytes): try form.append(bytes)
        case .endOfPart: try form.endPart()
        }
      }
    } catch let error as MultipartError {
      throw error.problem
    }
    return try form.finish()
  }

  /// Reads the JSON of a request, which names uploads instead of files.
  ///
  /// - Parameters:
  ///   - defined: the fields of posts.
  ///   - content: looks up the uploads.
  static func json(
    of request: Request, limits: PartLimits, defined: [String: FieldDefinition],
    content: (UploadReferences) throws -> ReferredContent
  ) async throws -> SubmissionForm {
    let body = try await request.body.collect(upTo: JSONBody.maxBytes)
    var fields = try JSONBody.fields(of: body, part: "body")
    let references = try UploadReferences(
      taking: SubmissionPart.allCases, from: &fields, maxPhotos: limits.photos)
    let draft = try PostDraft(body: fields, user: request.caller.user, defined: defined)
    // Before the uploads are looked at: what the kind demands shows in their names.
    _ = try Media(references.ids, of: draft, textField: "caption")
    let found: Content =
      switch try content(references) {
      case .whole(let files): .files(try Media(files, of: draft, textField: "caption"))
      case .awaited(let uploads, _): .awaited(uploads)
      case .missing(let problem): .missing(problem)
      }
    return SubmissionForm(draft: draft, text: [body], content: found, references: references)
  }

  /// Throws a problem if a post without media has neither a caption nor a title.
  static func checkText(_ draft: PostDraft, field: String) throws {
    guard (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty else { return }
    throw ProblemKind.invalidFields.problem(
      "A post without media needs a caption or a title.",
      errors: [FieldError(field, "is required without media and title")])
  }
}

extension SubmissionForm.Media {
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
    if photos.isEmpty { try SubmissionForm.checkText(draft, field: textField) }
    self = .photos(photos)
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
