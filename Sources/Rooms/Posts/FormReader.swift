internal import HTTPServer
internal import Kit
internal import Model

/// Collects the parts of a submission's form as they arrive.
struct FormReader: ~Copyable {
  /// The content of a part, determined by its name.
  private enum Part {
    case media(SubmissionPart)
    case field(PostField)
    /// All fields in one JSON object.
    case post

    init?(_ name: String) {
      if let field = PostField(named: name) {
        self = .field(field)
      } else if let media = SubmissionPart(named: name) {
        self = .media(media)
      } else if name == "post" {
        self = .post
      } else {
        return nil
      }
    }
  }

  private let space: MediaSpace
  private let limits: SubmissionForm.PartLimits
  private let definitions: SubmissionDefinitions
  private let length: Int64?
  private let user: String?
  private var media: [SubmissionPart: [JudgedFile]] = [:]
  private var fields: [PostField: [UInt8]] = [:]
  private var post: [UInt8]?
  private var current = Part.post
  /// The number of bytes of all files.
  private var received: Int64 = 0
  private var textBytes = 0
  private var file: ArrivingFile?

  /// - Parameters:
  ///   - length: the length of the form in bytes; nil: unknown.
  ///   - user: the author of a form that names none; nil: the form must name one.
  init(
    space: MediaSpace, limits: SubmissionForm.PartLimits, definitions: SubmissionDefinitions, length: Int64?,
    user: String?
  ) {
    self.space = space
    self.limits = limits
    self.definitions = definitions
    self.length = length
    self.user = user
  }

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

  consuming func finish() throws -> SubmissionForm {
    let clips = [SubmissionPart.front, .back].filter { media[$0] == nil }
    let (draft, text) = try readFields(missing: clips.count == 2 ? [] : clips.map(\.rawValue))
    let arranged = try SubmissionMedia(
      media, of: draft, textField: post == nil ? "caption" : "post.caption")
    return SubmissionForm(draft: draft, text: text, content: .files(arranged))
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
