internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// A parsed submission: the post and its media, which are staged, hashed and judged.
struct PostForm: Sendable {
  let draft: PostDraft
  let content: ReceivedSubmission.Content
  /// The uploads that it names; nil: it has sent files.
  var references: UploadReferences?
  /// What an idempotency key is compared by: the received fields, and the hashes of sent files. A submission that names uploads is
  /// the same if it names the same: their content is gone once it is stored.
  let payload: [[UInt8]]

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

    init(_ definitions: SubmissionDefinitions) {
      let photos = definitions.photos[SubmissionDefinitions.photoPost]
      (momentBytes, clipBytes) = (definitions.moment.limits.bytes, definitions.clip.limits.bytes)
      (photoBytes, self.photos) = (photos?.limits.bytes ?? 0, photos?.photos ?? 0)
    }

    /// The maximum length of a form: the media, the fields and the delimiters.
    var formBytes: Int64 {
      max(Int64(Camera.allCases.count) * momentBytes, clipBytes, Int64(photos) * photoBytes) + maxOtherBytes
    }

    /// Returns the maximum length of a part.
    func bytes(of part: MediaPart) -> Int64 {
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
    of request: Request, space: MediaSpace, definitions: SubmissionDefinitions
  ) async throws -> PostForm {
    let limits = PartLimits(definitions)
    var form = FormReader(
      space: space, limits: limits, definitions: definitions, length: request.head.contentLength,
      user: request.caller.user)
    do {
      // One more part than a valid form can have, so that the error can name it.
      var reader = try MultipartReader(
        request,
        limits: MultipartLimits(
          parts: limits.photos + MediaPart.allCases.count + PostField.allCases.count,
          partBytes: MediaPart.allCases.map { limits.bytes(of: $0) }.max() ?? 0))
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
  /// - Parameter content: looks up the uploads.
  static func json(
    of request: Request, definitions: SubmissionDefinitions, content: (UploadReferences) throws -> ReferredContent
  ) async throws -> PostForm {
    let body = try await request.body.collect(upTo: JSONBody.maxBytes)
    var fields = try JSONBody.fields(of: body, part: "body")
    let references = try UploadReferences(
      taking: MediaPart.allCases, from: &fields, maxPhotos: PartLimits(definitions).photos)
    let draft = try PostDraft(body: fields, user: request.caller.user, defined: definitions.fields.posts)
    // Before the uploads are looked at: what the kind demands shows in their names.
    _ = try ArrangedMedia(references.ids, of: draft, textField: "caption")
    let found: ReceivedSubmission.Content =
      switch try content(references) {
      case .whole(let files): .files(try ArrangedMedia(files, of: draft, textField: "caption"))
      case .awaited(let uploads, _): .awaited(uploads)
      case .missing(let problem): .missing(problem)
      }
    return PostForm(draft: draft, content: found, references: references, payload: [body])
  }
}

/// Collects the parts of a submission's form as they arrive.
private struct FormReader: ~Copyable {
  /// The content of a part, determined by its name.
  enum Part {
    case media(MediaPart)
    case field(PostField)
    /// All fields in one JSON object.
    case post

    init?(_ name: String) {
      if let field = PostField(named: name) {
        self = .field(field)
      } else if let media = MediaPart(named: name) {
        self = .media(media)
      } else if name == "post" {
        self = .post
      } else {
        return nil
      }
    }
  }

  let space: MediaSpace
  let limits: PostForm.PartLimits
  let definitions: SubmissionDefinitions
  /// The length of the form in bytes; nil: unknown.
  let length: Int64?
  /// The author of a form that names none; nil: the form must name one.
  let user: String?
  var media: [MediaPart: [JudgedFile]] = [:]
  var fields: [PostField: [UInt8]] = [:]
  var post: [UInt8]?
  var current = Part.post
  /// The number of bytes of all files.
  var received: Int64 = 0
  var textBytes = 0
  var file: ArrivingFile?

  mutating func beginPart(_ name: String) throws {
    guard let part = Part(name) else { throw ProblemKind.unknown(part: name) }
    if case .media(.photo) = part, let photos = media[.photo], photos.count >= limits.photos {
      throw ProblemKind.unknownPart.problem(
        "The form has more than \(CountText.text(limits.photos, "photo")).",
        errors: [FieldError(name, "is sent more than \(CountText.text(limits.photos, "time"))")])
    }
    if isRepeated(part) { throw ProblemKind.repeated(part: name) }
    current = part
    switch part {
    case .media(let media):
      file = try ArrivingFile(
        in: space, accepting: definitions.accepted(media), photo: media == .photo ? self.media[.photo]?.count ?? 0 : nil
      )
    case .field(let field): fields[field] = []
    case .post: post = []
    }
  }

  private func isRepeated(_ part: Part) -> Bool {
    switch part {
    case .media(let media): media != .photo && self.media[media] != nil
    case .field(let field): fields[field] != nil
    case .post: post != nil
    }
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    switch current {
    case .media(let part):
      received += Int64(bytes.count)
      let limit = limits.bytes(of: part)
      if (file?.count ?? 0) + Int64(bytes.count) > limit {
        throw MultipartError.partTooLarge(name: part.rawValue, limit: limit)
      }
      let rest = length.map { $0 - received }
      try bytes.withUnsafeBytes { try file?.append($0, rest: rest) }
    case .field(let field):
      try countText(bytes, field.rawValue)
      fields[field]? += bytes
    case .post:
      try countText(bytes, "post")
      post? += bytes
    }
  }

  private mutating func countText(_ bytes: ArraySlice<UInt8>, _ name: String) throws {
    textBytes += bytes.count
    guard textBytes <= MediaSubmissions.maxTextBytes else {
      throw ProblemKind.invalidFields.problem(
        "The fields are longer than \(MediaSubmissions.maxTextBytes) bytes in total.",
        errors: [FieldError(name, "exceeds the total of \(MediaSubmissions.maxTextBytes) bytes")])
    }
  }

  mutating func endPart() throws {
    guard case .media(let part) = current else { return }
    // A noncopyable value cannot be moved out of an optional property; it can be swapped out.
    var ended: ArrivingFile?
    swap(&ended, &file)
    if let file = try ended.take()?.seal() { media[part, default: []].append(file) }
  }

  consuming func finish() throws -> PostForm {
    let clips = [MediaPart.front, .back].filter { media[$0] == nil }
    let (draft, text) = try readFields(missing: clips.count == 2 ? [] : clips.map(\.rawValue))
    let arranged = try ArrangedMedia(
      media, of: draft, textField: post == nil ? "caption" : "post.caption")
    let files = arranged.files.flatMap { role, file in [Array(role.rawValue.utf8), file.content.hash.bytes] }
    return PostForm(draft: draft, content: .files(arranged), payload: text + files)
  }

  /// Returns the post from its fields or from the part `post`, and the received bytes.
  private borrowing func readFields(missing clips: [String]) throws -> (PostDraft, [[UInt8]]) {
    if let post {
      if let field = PostField.allCases.first(where: { fields[$0] != nil }) {
        throw ProblemKind.unknownPart.problem(
          "The form has the part \(field.rawValue) in addition to the part post.",
          errors: [FieldError(field.rawValue, "must be in the part post")])
      }
      return (try PostDraft(json: post, user: user, defined: definitions.fields.posts), [post])
    }
    let required = PostField.required.filter { $0 != .author || user == nil }
    let missing = required.filter { fields[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else { throw ProblemKind.missing(parts: missing + clips) }
    let text = PostField.allCases.flatMap { field in fields[field].map { [Array(field.rawValue.utf8), $0] } ?? [] }
    return (try PostDraft(form: fields, user: user, defined: definitions.fields.posts), text)
  }
}
