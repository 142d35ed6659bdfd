internal import Blobs
internal import HTTPServer
internal import Model

/// What a submission's form held: the post and both clips, staged, hashed and not yet looked at.
struct SubmissionForm: Sendable {
  let draft: PostDraft
  let clips: [Camera: SealedBlob]

  private static let postBytes = 64 << 10

  /// The most bytes of a form, for the route's limit: the clips, the post, and what separates them.
  static func mostBytes(clipBytes: Int64) -> Int64 { Int64(Camera.allCases.count) * clipBytes + 1 << 20 }

  /// Reads it from a request, each clip straight into the blob store; throws a problem that names the part.
  ///
  /// - Parameter clipBytes: the most bytes of one clip.
  init(_ request: Request, blobs: some BlobStore, clipBytes: Int64) async throws {
    var reading = Reading(blobs: blobs)
    do {
      // More parts than known ones, so that the one too many can be named.
      var reader = try MultipartReader(request, limits: MultipartLimits(parts: 8, partBytes: clipBytes))
      while let event = try await reader.next() {
        switch event {
        case .part(let header): try reading.begin(header.name)
        case .bytes(let bytes): try reading.take(bytes)
        case .endOfPart: try reading.end()
        }
      }
    } catch let error as MultipartError {
      throw Self.problem(error)
    }
    (draft, clips) = try reading.finish()
  }

  private static func problem(_ error: MultipartError) -> Problem {
    switch error {
    case .notMultipart: ProblemKind.notMultipart.problem("\(error)".sentence)
    case .partTooLarge(let name, let limit):
      ProblemKind.partTooLarge.problem(
        "The part \(name) is longer than \(limit) bytes.",
        reasons: [
          Reason(
            .tooLarge, input: InputName(rawValue: name),
            detail: "The file is longer than the \(limit) bytes allowed. Export the clip at a lower bit rate.")
        ])
    case .tooManyParts: ProblemKind.unknownPart.problem("\(error)".sentence)
    default: ProblemKind.malformedForm.problem("\(error)".sentence)
    }
  }

  /// The form so far, part by part.
  private struct Reading: ~Copyable {
    private let blobs: any BlobStore
    private var clips: [Camera: SealedBlob] = [:]
    private var post: [UInt8]?
    private var current = ""
    private var staged: StagedBlob?

    init(blobs: any BlobStore) { self.blobs = blobs }

    mutating func begin(_ name: String) throws {
      let camera = Camera(rawValue: name)
      guard camera != nil || name == "post" else {
        throw ProblemKind.unknownPart.problem(
          "The form has a part \(name).", errors: [FieldError(name, "is not a part of a submission")])
      }
      guard name == "post" ? post == nil : camera.map({ clips[$0] == nil }) ?? false else {
        throw ProblemKind.repeatedPart.problem(
          "The part \(name) stands twice.", errors: [FieldError(name, "stands more than once")])
      }
      current = name
      if camera == nil { post = [] } else { staged = try blobs.stage() }
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) throws {
      if current == "post" {
        guard (post?.count ?? 0) + bytes.count <= postBytes else {
          throw ProblemKind.invalidFields.problem(
            "The part post is longer than \(postBytes) bytes.",
            errors: [FieldError("post", "is longer than \(postBytes) bytes")])
        }
        post? += bytes
      } else {
        try bytes.withUnsafeBytes { try staged?.append($0) }
      }
    }

    mutating func end() throws {
      guard let camera = Camera(rawValue: current) else { return }
      // Taken out by exchange: a value without copies cannot be moved out of an optional in place.
      var sealed: StagedBlob?
      swap(&sealed, &staged)
      if let sealed { clips[camera] = try sealed.seal() }
    }

    consuming func finish() throws -> (PostDraft, [Camera: SealedBlob]) {
      let missing = Camera.allCases.filter { clips[$0] == nil }.map(\.rawValue) + (post == nil ? ["post"] : [])
      guard missing.isEmpty, let post else {
        throw ProblemKind.missingPart.problem(
          "The form lacks \(missing.joined(separator: " and ")).",
          errors: missing.map { FieldError($0, "is required") })
      }
      return (try PostDraft(json: post), clips)
    }
  }
}

extension String {
  /// With a capital letter at its start and a full stop at its end.
  fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
