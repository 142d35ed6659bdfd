internal import Blobs
internal import HTTPServer
internal import Model

/// A submission's form while it comes in, part by part.
struct FormReading: ~Copyable {
  /// What a part holds, by its name.
  private enum Part {
    case media(SubmissionPart)
    case field(PostField)
    /// All fields as one JSON object.
    case post

    init?(_ name: String) {
      if let field = PostField(rawValue: name) {
        self = .field(field)
      } else if let media = SubmissionPart(rawValue: name) {
        self = .media(media)
      } else if name == "post" {
        self = .post
      } else {
        return nil
      }
    }
  }

  private let room: MediaRoom
  private let limits: SubmissionForm.PartLimits
  private var media: [SubmissionPart: [SealedBlob]] = [:]
  private var fields: [PostField: [UInt8]] = [:]
  private var post: [UInt8]?
  private var current = Part.post
  private var received: Int64 = 0
  private var text = 0
  private var staged: StagedBlob?

  init(room: MediaRoom, limits: SubmissionForm.PartLimits) {
    self.room = room
    self.limits = limits
  }

  mutating func begin(_ name: String) throws {
    guard let part = Part(name) else { throw ProblemKind.unknown(part: name) }
    if case .media(.photo) = part, let photos = media[.photo], photos.count >= limits.photos {
      throw ProblemKind.unknownPart.problem(
        "The form has more than \(limits.photos) photos.",
        errors: [FieldError(name, "stands more than \(limits.photos) times")])
    }
    if isTaken(part) {
      throw ProblemKind.repeatedPart.problem(
        "The part \(name) stands twice.", errors: [FieldError(name, "stands more than once")])
    }
    current = part
    received = 0
    switch part {
    case .media: staged = try room.stage()
    case .field(let field): fields[field] = []
    case .post: post = []
    }
  }

  private func isTaken(_ part: Part) -> Bool {
    switch part {
    case .media(let media): media != .photo && self.media[media] != nil
    case .field(let field): fields[field] != nil
    case .post: post != nil
    }
  }

  mutating func take(_ bytes: ArraySlice<UInt8>) throws {
    switch current {
    case .media(let part):
      received += Int64(bytes.count)
      let most = limits.bytes(of: part)
      if received > most { throw MultipartError.partTooLarge(name: part.rawValue, limit: most) }
      try bytes.withUnsafeBytes { try staged?.append($0) }
    case .field(let field):
      try count(bytes, field.rawValue)
      fields[field]? += bytes
    case .post:
      try count(bytes, "post")
      post? += bytes
    }
  }

  private mutating func count(_ bytes: ArraySlice<UInt8>, _ name: String) throws {
    text += bytes.count
    guard text <= SubmissionForm.textBytes else {
      throw ProblemKind.invalidFields.problem(
        "What is said of the post is longer than \(SubmissionForm.textBytes) bytes.",
        errors: [FieldError(name, "goes beyond \(SubmissionForm.textBytes) bytes")])
    }
  }

  mutating func end() throws {
    guard case .media(let part) = current else { return }
    // Taken out by exchange: a value without copies cannot be moved out of an optional in place.
    var sealed: StagedBlob?
    swap(&sealed, &staged)
    if let blob = try sealed.take()?.seal() { media[part, default: []].append(blob) }
  }

  consuming func finish() throws -> SubmissionForm {
    let cameras = Camera.allCases.reduce(into: [:]) { clips, camera in
      clips[camera] = SubmissionPart(rawValue: camera.rawValue).flatMap { media[$0]?.first }
    }
    let missingClips = Camera.allCases.filter { cameras[$0] == nil }.map(\.rawValue)
    let (draft, words) = try said(missing: cameras.isEmpty ? [] : missingClips)
    if draft.kind == .take5, !missingClips.isEmpty { throw Self.missing(missingClips) }
    let allowed = SubmissionPart.media(of: draft.kind)
    for part in SubmissionPart.allCases where media[part] != nil && !allowed.contains(part) {
      throw ProblemKind.unknown(part: part.rawValue)
    }
    if draft.kind == .take5 { return SubmissionForm(draft: draft, words: words, media: .moment(cameras)) }
    let photos = (media[.photo] ?? []) + (media[.image] ?? [])
    if let clip = media[.video]?.first {
      guard photos.isEmpty else {
        throw ProblemKind.unknownPart.problem(
          "A marker has an image or a video, not both.", errors: [FieldError("video", "stands beside an image")])
      }
      return SubmissionForm(draft: draft, words: words, media: .clip(clip))
    }
    if photos.isEmpty { try SubmissionForm.checkWords(draft, field: post == nil ? "caption" : "post.caption") }
    return SubmissionForm(draft: draft, words: words, media: .photos(photos))
  }

  /// What is said of the post, in fields or as one JSON object, and the same as it came.
  private borrowing func said(missing clips: [String]) throws -> (PostDraft, [[UInt8]]) {
    if let post {
      if let field = PostField.allCases.first(where: { fields[$0] != nil }) {
        throw ProblemKind.unknownPart.problem(
          "The form has the part \(field.rawValue) beside the part post.",
          errors: [FieldError(field.rawValue, "stands beside post, which says all")])
      }
      return (try PostDraft(json: post), [post])
    }
    let missing = PostField.required.filter { fields[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else { throw Self.missing(missing + clips) }
    let words = PostField.allCases.flatMap { field in fields[field].map { [Array(field.rawValue.utf8), $0] } ?? [] }
    return (try PostDraft(form: fields), words)
  }

  private static func missing(_ names: [String]) -> Problem {
    ProblemKind.missingPart.problem(
      "The form lacks \(names.sorted().joined(separator: " and ")).",
      errors: names.sorted().map { FieldError($0, "is required") })
  }
}
