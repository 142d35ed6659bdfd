internal import Blobs
internal import HTTPServer
internal import Model

/// What a submission held: the post and its media, staged, hashed and not yet looked at.
struct SubmissionForm: Sendable {
  /// What came beside the post.
  enum Media: Sendable {
    /// Both clips of a moment.
    case moment([Camera: SealedBlob])
    /// A marker's video.
    case clip(SealedBlob)
    /// The photos of a post, in the order in which they came, or the image of a marker; perhaps none.
    case photos([SealedBlob])
  }

  let draft: PostDraft
  /// What is said of the post as it came, piece by piece.
  let words: [[UInt8]]
  let media: Media

  /// The most bytes of what is said of the post.
  static let textBytes = 64 << 10

  /// The longest submission that holds no media, with what delimits its parts.
  static let maxText = Int64(textBytes) + 4096

  /// The most bytes of each part.
  struct PartLimits: Sendable {
    /// Of each clip of a moment.
    let momentBytes: Int64
    /// Of a clip by itself.
    let clipBytes: Int64
    let photoBytes: Int64
    /// How many photos a post has at most.
    let photos: Int

    /// Of a form, for the route's limit: the media, the post, and what separates them.
    var formBytes: Int64 {
      max(Int64(Camera.allCases.count) * momentBytes, clipBytes, Int64(photos) * photoBytes) + 1 << 20
    }

    /// Of a part.
    func bytes(of part: SubmissionPart) -> Int64 {
      switch part {
      case .front, .back: momentBytes
      case .video: clipBytes
      case .photo, .image: photoBytes
      }
    }
  }

  init(draft: PostDraft, words: [[UInt8]], media: Media) {
    self.draft = draft
    self.words = words
    self.media = media
  }

  /// Reads it from a request: a form, each file straight into the blob store, or JSON, which can hold no media; throws a
  /// problem that names the part or the field.
  init(_ request: Request, room: MediaRoom, limits: PartLimits) async throws {
    self =
      JSONBody.isPlain(request)
      ? try await Self.words(of: request) : try await Self.form(of: request, room: room, limits: limits)
  }

  private static func form(of request: Request, room: MediaRoom, limits: PartLimits) async throws -> SubmissionForm {
    var reading = FormReading(room: room, limits: limits)
    do {
      // More parts than known ones, so that the one too many can be named.
      var reader = try MultipartReader(
        request,
        limits: MultipartLimits(
          parts: limits.photos + SubmissionPart.allCases.count + PostField.allCases.count,
          partBytes: SubmissionPart.allCases.map { limits.bytes(of: $0) }.max() ?? 0))
      while let event = try await reader.next() {
        switch event {
        case .part(let header): try reading.begin(header.name)
        case .bytes(let bytes): try reading.take(bytes)
        case .endOfPart: try reading.end()
        }
      }
    } catch let error as MultipartError {
      throw error.problem
    }
    return try reading.finish()
  }

  private static func words(of request: Request) async throws -> SubmissionForm {
    let body = try await request.body.collect(upTo: JSONBody.most)
    let draft = try PostDraft(body: try JSONBody.fields(of: body, part: "body"))
    guard draft.kind != .take5 else {
      throw ProblemKind.missingPart.problem(
        "JSON holds no clips: a moment is submitted as multipart/form-data.",
        errors: ["back", "front"].map { FieldError($0, "is required") })
    }
    try checkWords(draft, field: "caption")
    return SubmissionForm(draft: draft, words: [body], media: .photos([]))
  }

  /// Throws a problem where a post without media says nothing.
  static func checkWords(_ draft: PostDraft, field: String) throws {
    guard (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty else { return }
    throw ProblemKind.invalidFields.problem(
      "A post without media needs a caption or a title.",
      errors: [FieldError(field, "is required where there are no media and no title")])
  }
}
