internal import Blobs
internal import HTTPServer
internal import Model

/// One image on its way in: the raw body, or the part `image` of a form beside which an author may be named.
struct ImageUpload: Sendable {
  let image: SealedBlob
  /// From the part `author`.
  let author: String?

  private static let maxAuthorLength = 200

  /// Reads it from a request straight into the blob store.
  init(_ request: Request, room: MediaRoom, limits: PhotoLimits) async throws {
    let type = request.headers["Content-Type"] ?? ""
    if type.lowercased().hasPrefix("multipart/") {
      (image, author) = try await Self.form(request, room: room, limits: limits)
    } else {
      image = try await Self.body(request, room: room, limits: limits)
      author = nil
    }
  }

  private static func body(_ request: Request, room: MediaRoom, limits: PhotoLimits) async throws -> SealedBlob {
    var staged = try room.stage()
    var received: Int64 = 0
    for try await chunk in request.body {
      received += Int64(chunk.count)
      guard received <= limits.bytes else {
        throw MultipartError.partTooLarge(name: "image", limit: limits.bytes).problem
      }
      try chunk.withUnsafeBytes { try staged.append($0) }
    }
    guard received > 0 else {
      throw ProblemKind.missingPart.problem("There is no image.", errors: [FieldError("image", "is required")])
    }
    return try staged.seal()
  }

  private static func form(
    _ request: Request, room: MediaRoom, limits: PhotoLimits
  ) async throws -> (SealedBlob, String?) {
    var image: SealedBlob?
    var author: [UInt8]?
    do {
      var reader = try MultipartReader(request, limits: MultipartLimits(parts: 3, partBytes: limits.bytes))
      while let event = try await reader.next() {
        guard case .part(let header) = event else { continue }
        let isImage = header.name == "image"
        guard isImage || header.name == "author" else { throw ProblemKind.unknown(part: header.name) }
        guard isImage ? image == nil : author == nil else {
          throw ProblemKind.repeatedPart.problem(
            "The part \(header.name) stands twice.", errors: [FieldError(header.name, "stands more than once")])
        }
        if isImage {
          image = try await part(&reader, room: room)
        } else {
          author = try await text(&reader)
        }
      }
    } catch let error as MultipartError {
      throw error.problem
    }
    guard let image else {
      throw ProblemKind.missingPart.problem("The form lacks image.", errors: [FieldError("image", "is required")])
    }
    return (image, try author.map(Self.checked))
  }

  private static func part(_ reader: inout MultipartReader, room: MediaRoom) async throws -> SealedBlob {
    var staged = try room.stage()
    while case .bytes(let bytes)? = try await reader.next() { try bytes.withUnsafeBytes { try staged.append($0) } }
    return try staged.seal()
  }

  private static func text(_ reader: inout MultipartReader) async throws -> [UInt8] {
    var text: [UInt8] = []
    while case .bytes(let bytes)? = try await reader.next() {
      guard text.count + bytes.count <= 4 * maxAuthorLength else { throw wrongAuthor }
      text += bytes
    }
    return text
  }

  private static func checked(_ bytes: [UInt8]) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
      text.unicodeScalars.count <= maxAuthorLength, !text.unicodeScalars.contains("\0")
    else { throw wrongAuthor }
    return text
  }

  private static var wrongAuthor: Problem {
    ProblemKind.invalidFields.problem(
      "The part author is wrong.",
      errors: [FieldError("author", "expected 1 to \(maxAuthorLength) characters in UTF-8")])
  }
}
