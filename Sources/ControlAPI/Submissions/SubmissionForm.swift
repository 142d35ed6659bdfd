internal import Blobs
internal import HTTPServer
internal import Model

/// What a submission's form held: the post and its media, staged, hashed and not yet looked at.
struct SubmissionForm: Sendable {
  let draft: PostDraft
  /// Of a moment.
  let clips: [Camera: SealedBlob]
  /// Of a post of photos, or the image of a marker, in the order in which they came.
  let photos: [SealedBlob]

  static let postBytes = 64 << 10

  /// The most bytes of each part.
  struct PartLimits: Sendable {
    let clipBytes: Int64
    let photoBytes: Int64
    /// How many photos a post has at most.
    let photos: Int

    /// Of a form, for the route's limit: the media, the post, and what separates them.
    var formBytes: Int64 {
      max(Int64(Camera.allCases.count) * clipBytes, Int64(photos) * photoBytes) + 1 << 20
    }
  }

  /// Reads it from a request, each file straight into the blob store; throws a problem that names the part.
  init(_ request: Request, blobs: some BlobStore, limits: PartLimits) async throws {
    var reading = Reading(blobs: blobs, limits: limits)
    do {
      // More parts than known ones, so that the one too many can be named.
      var reader = try MultipartReader(
        request, limits: MultipartLimits(parts: limits.photos + 4, partBytes: max(limits.clipBytes, limits.photoBytes)))
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
    (draft, clips, photos) = try reading.finish()
  }

  /// The form so far, part by part.
  private struct Reading: ~Copyable {
    private let blobs: any BlobStore
    private let limits: PartLimits
    private var clips: [Camera: SealedBlob] = [:]
    private var photos: [SealedBlob] = []
    private var image: SealedBlob?
    private var post: [UInt8]?
    private var current = ""
    private var received: Int64 = 0
    private var staged: StagedBlob?

    init(blobs: any BlobStore, limits: PartLimits) {
      self.blobs = blobs
      self.limits = limits
    }

    mutating func begin(_ name: String) throws {
      let isRepeated: Bool
      switch name {
      case "post": isRepeated = post != nil
      case "photo":
        guard photos.count < limits.photos else {
          throw ProblemKind.unknownPart.problem(
            "The form has more than \(limits.photos) photos.",
            errors: [FieldError(name, "stands more than \(limits.photos) times")])
        }
        isRepeated = false
      case "image": isRepeated = image != nil
      default:
        guard let camera = Camera(rawValue: name) else { throw ProblemKind.unknown(part: name) }
        isRepeated = clips[camera] != nil
      }
      guard !isRepeated else {
        throw ProblemKind.repeatedPart.problem(
          "The part \(name) stands twice.", errors: [FieldError(name, "stands more than once")])
      }
      current = name
      received = 0
      if name == "post" { post = [] } else { staged = try blobs.stage() }
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) throws {
      if current == "post" {
        guard (post?.count ?? 0) + bytes.count <= postBytes else {
          throw ProblemKind.invalidFields.problem(
            "The part post is longer than \(postBytes) bytes.",
            errors: [FieldError("post", "is longer than \(postBytes) bytes")])
        }
        post? += bytes
        return
      }
      received += Int64(bytes.count)
      let most = Camera(rawValue: current) == nil ? limits.photoBytes : limits.clipBytes
      if received > most { throw MultipartError.partTooLarge(name: current, limit: most) }
      try bytes.withUnsafeBytes { try staged?.append($0) }
    }

    mutating func end() throws {
      guard current != "post" else { return }
      // Taken out by exchange: a value without copies cannot be moved out of an optional in place.
      var sealed: StagedBlob?
      swap(&sealed, &staged)
      guard let blob = try sealed.take()?.seal() else { return }
      switch current {
      case "photo": photos.append(blob)
      case "image": image = blob
      default: if let camera = Camera(rawValue: current) { clips[camera] = blob }
      }
    }

    consuming func finish() throws -> (PostDraft, [Camera: SealedBlob], [SealedBlob]) {
      guard let post else { throw Self.missing(["post"] + Camera.allCases.filter { clips[$0] == nil }.map(\.rawValue)) }
      let draft = try PostDraft(json: post)
      switch draft.kind {
      case .take5:
        let missing = Camera.allCases.filter { clips[$0] == nil }
        guard missing.isEmpty else { throw Self.missing(missing.map(\.rawValue)) }
        if !photos.isEmpty { throw ProblemKind.unknown(part: "photo") }
        if image != nil { throw ProblemKind.unknown(part: "image") }
        return (draft, clips, [])
      case .photo, .marker:
        if let camera = clips.keys.first { throw ProblemKind.unknown(part: camera.rawValue) }
        if draft.kind == .photo, image != nil { throw ProblemKind.unknown(part: "image") }
        if draft.kind == .marker, !photos.isEmpty { throw ProblemKind.unknown(part: "photo") }
        let media = photos + (image.map { [$0] } ?? [])
        let isSilent = (draft.title ?? "").isEmpty && (draft.caption ?? "").isEmpty
        guard !media.isEmpty || !isSilent else {
          throw ProblemKind.invalidFields.problem(
            "A post without media needs a caption or a title.",
            errors: [FieldError("post.caption", "is required where there are no media and no title")])
        }
        return (draft, [:], media)
      }
    }

    private static func missing(_ names: [String]) -> Problem {
      ProblemKind.missingPart.problem(
        "The form lacks \(names.sorted().joined(separator: " and ")).",
        errors: names.sorted().map { FieldError($0, "is required") })
    }
  }
}
