internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// A parsed submission: the post and its media, which are staged, hashed and judged.
struct SubmissionForm: Sendable {
  /// Where the media are.
  enum Content: Sendable {
    case files(SubmissionMedia<JudgedFile>)
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
    _ = try SubmissionMedia(references.ids, of: draft, textField: "caption")
    let found: Content =
      switch try content(references) {
      case .whole(let files): .files(try SubmissionMedia(files, of: draft, textField: "caption"))
      case .awaited(let uploads, _): .awaited(uploads)
      case .missing(let problem): .missing(problem)
      }
    return SubmissionForm(draft: draft, text: [body], content: found, references: references)
  }
}
