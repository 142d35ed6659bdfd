internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Kit
internal import Model
internal import Platform

/// An uploaded image: the body of a request, the part `image` of a form with optional parts for texts, or an upload that JSON
/// names.
struct ImageUpload: Sendable {
  let content: ReceivedSubmission.Content
  /// The text of the part `author`.
  let author: String?
  /// The text of the part `alternative_text`.
  let alternativeText: String?
  /// The upload that it names; nil: it has sent the file.
  private(set) var references: UploadReferences?
  /// What an idempotency key is compared by, besides the texts: the JSON, or the hash of the file.
  let identity: [UInt8]

  /// Reads JSON that names an upload.
  ///
  /// - Parameter content: looks up the upload.
  init(naming request: Request, content: (UploadReferences) throws -> ReferredContent) async throws {
    let body = try await request.body.collect(upTo: JSONBody.maxBytes)
    var fields = try JSONBody.fields(of: body, part: "body")
    let references = try UploadReferences(taking: [.image], from: &fields)
    var reader = FieldReader(fields, path: "")
    author = reader.text("author", limit: MaxLength.name, allowsEmpty: false)
    alternativeText = reader.text("alternative_text", limit: MaxLength.alternativeText)
    try reader.check()
    guard !references.all.isEmpty else { throw ProblemKind.missing(parts: ["image"]) }
    (self.references, identity) = (references, body)
    switch try content(references) {
    case .whole(let files): self.content = .files(.photos(files[.image] ?? []))
    case .awaited(_, let unready):
      throw ProblemKind.uploadNotReady.problem("The submission names an upload that is not whole.", errors: unready)
    case .missing(let problem): self.content = .missing(problem)
    }
  }

  /// Writes the image of a request to the blob store as it arrives.
  init(_ request: Request, space: MediaSpace, limits: PhotoLimits) async throws {
    let type = request.headers["Content-Type"] ?? ""
    let image: JudgedFile
    if type.lowercased().hasPrefix("multipart/") {
      let texts: [TextPart: String]
      (image, texts) = try await Self.form(request, space: space, limits: limits)
      (author, alternativeText) = (texts[.author], texts[.alternativeText])
    } else {
      image = try await Self.body(request, space: space, limits: limits)
      (author, alternativeText) = (nil, nil)
    }
    (content, identity) = (.files(.photos([image])), image.content.hash.bytes)
  }

  private static func body(_ request: Request, space: MediaSpace, limits: PhotoLimits) async throws -> JudgedFile {
    var file = try ArrivingFile(in: space, accepting: AcceptedMedia(photo: limits))
    for try await chunk in request.body {
      let received = file.count + Int64(chunk.count)
      guard received <= limits.bytes else {
        throw MultipartError.partTooLarge(name: "image", limit: limits.bytes).problem
      }
      let rest = request.head.contentLength.map { $0 - received }
      try chunk.withUnsafeBytes { try file.append($0, rest: rest) }
    }
    guard file.count > 0 else {
      throw ProblemKind.missingPart.problem("The body is empty.", errors: [FieldError("image", "is required")])
    }
    return try file.seal()
  }

  private static func form(
    _ request: Request, space: MediaSpace, limits: PhotoLimits
  ) async throws -> (JudgedFile, [TextPart: String]) {
    var image: JudgedFile?
    var texts: [TextPart: String] = [:]
    do {
      var reader = try MultipartReader(
        request, limits: MultipartLimits(parts: TextPart.allCases.count + 2, partBytes: limits.bytes))
      while let event = try await reader.next() {
        guard case .part(let header) = event else { continue }
        if header.name == "image" {
          guard image == nil else { throw ProblemKind.repeated(part: header.name) }
          image = try await file(of: &reader, request, space: space, limits: limits)
        } else if let part = TextPart(named: header.name) {
          guard texts[part] == nil else { throw ProblemKind.repeated(part: header.name) }
          texts[part] = try await text(of: part, &reader)
        } else {
          throw ProblemKind.unknown(part: header.name)
        }
      }
    } catch let error as MultipartError {
      throw error.problem
    }
    guard let image else { throw ProblemKind.missing(parts: ["image"]) }
    return (image, texts)
  }

  /// A part of a form with a text.
  private enum TextPart: String, CaseIterable {
    case author
    case alternativeText = "alternative_text"

    /// The number of characters.
    var limits: ClosedRange<Int> {
      switch self {
      case .author: 1...MaxLength.name
      case .alternativeText: 0...MaxLength.alternativeText
      }
    }
  }

  private static func file(
    of reader: inout MultipartReader, _ request: Request, space: MediaSpace, limits: PhotoLimits
  ) async throws -> JudgedFile {
    var file = try ArrivingFile(in: space, accepting: AcceptedMedia(photo: limits))
    while case .bytes(let bytes)? = try await reader.next() {
      let rest = request.head.contentLength.map { $0 - file.count - Int64(bytes.count) }
      try bytes.withUnsafeBytes { try file.append($0, rest: rest) }
    }
    return try file.seal()
  }

  private static func text(of part: TextPart, _ reader: inout MultipartReader) async throws -> String {
    let invalid = ProblemKind.invalidFields.problem(
      "The part \(part.rawValue) is invalid.",
      errors: [
        FieldError(
          part.rawValue, "expected \(part.limits.lowerBound) to \(part.limits.upperBound) characters in UTF-8")
      ])
    var bytes: [UInt8] = []
    while case .bytes(let some)? = try await reader.next() {
      guard bytes.count + some.count <= 4 * part.limits.upperBound else { throw invalid }
      bytes += some
    }
    guard let text = ExternalText.decode(bytes), part.limits.contains(text.unicodeScalars.count),
      !text.unicodeScalars.contains("\0")
    else { throw invalid }
    return text
  }
}
