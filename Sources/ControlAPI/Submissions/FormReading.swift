internal import Blobs
internal import HTTPServer
internal import Model

/// A submission's form while it comes in, part by part.
struct FormReading: ~Copyable {
  private let room: MediaRoom
  private let limits: SubmissionForm.PartLimits
  private var media: [SubmissionPart: [SealedBlob]] = [:]
  private var post: [UInt8]?
  private var current = SubmissionPart.post
  private var received: Int64 = 0
  private var staged: StagedBlob?

  init(room: MediaRoom, limits: SubmissionForm.PartLimits) {
    self.room = room
    self.limits = limits
  }

  mutating func begin(_ name: String) throws {
    guard let part = SubmissionPart(rawValue: name) else { throw ProblemKind.unknown(part: name) }
    let count = media[part]?.count ?? (part == .post && post != nil ? 1 : 0)
    if part == .photo, count >= limits.photos {
      throw ProblemKind.unknownPart.problem(
        "The form has more than \(limits.photos) photos.",
        errors: [FieldError(name, "stands more than \(limits.photos) times")])
    }
    if part != .photo, count > 0 {
      throw ProblemKind.repeatedPart.problem(
        "The part \(name) stands twice.", errors: [FieldError(name, "stands more than once")])
    }
    current = part
    received = 0
    if part == .post { post = [] } else { staged = try room.stage() }
  }

  mutating func take(_ bytes: ArraySlice<UInt8>) throws {
    received += Int64(bytes.count)
    let most = limits.bytes(of: current)
    if current == .post {
      guard received <= most else {
        throw ProblemKind.invalidFields.problem(
          "The part post is longer than \(most) bytes.", errors: [FieldError("post", "is longer than \(most) bytes")])
      }
      post? += bytes
      return
    }
    if received > most { throw MultipartError.partTooLarge(name: current.rawValue, limit: most) }
    try bytes.withUnsafeBytes { try staged?.append($0) }
  }

  mutating func end() throws {
    guard current != .post else { return }
    // Taken out by exchange: a value without copies cannot be moved out of an optional in place.
    var sealed: StagedBlob?
    swap(&sealed, &staged)
    if let blob = try sealed.take()?.seal() { media[current, default: []].append(blob) }
  }

  consuming func finish() throws -> (PostDraft, [UInt8], SubmissionForm.Media) {
    let cameras = Camera.allCases.reduce(into: [:]) { clips, camera in
      clips[camera] = SubmissionPart(rawValue: camera.rawValue).flatMap { media[$0]?.first }
    }
    let missing = Camera.allCases.filter { cameras[$0] == nil }.map(\.rawValue)
    guard let post else { throw Self.missing(media.isEmpty || !cameras.isEmpty ? ["post"] + missing : ["post"]) }
    let draft = try PostDraft(json: post)
    if draft.kind == .take5, !missing.isEmpty { throw Self.missing(missing) }
    let allowed = SubmissionPart.media(of: draft.kind)
    for part in SubmissionPart.allCases where media[part] != nil && !allowed.contains(part) {
      throw ProblemKind.unknown(part: part.rawValue)
    }
    if draft.kind == .take5 { return (draft, post, .moment(cameras)) }
    let photos = (media[.photo] ?? []) + (media[.image] ?? [])
    if let clip = media[.video]?.first {
      guard photos.isEmpty else {
        throw ProblemKind.unknownPart.problem(
          "A marker has an image or a video, not both.", errors: [FieldError("video", "stands beside an image")])
      }
      return (draft, post, .clip(clip))
    }
    let isSilent = (draft.title ?? "").isEmpty && (draft.caption ?? "").isEmpty
    guard !photos.isEmpty || !isSilent else {
      throw ProblemKind.invalidFields.problem(
        "A post without media needs a caption or a title.",
        errors: [FieldError("post.caption", "is required where there are no media and no title")])
    }
    return (draft, post, .photos(photos))
  }

  private static func missing(_ names: [String]) -> Problem {
    ProblemKind.missingPart.problem(
      "The form lacks \(names.sorted().joined(separator: " and ")).",
      errors: names.sorted().map { FieldError($0, "is required") })
  }
}
