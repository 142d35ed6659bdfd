import FoundationEssentials
internal import HTTPServer
internal import Kit

/// A protocol of resumable uploads: what requests say, and how responses say what is so. docs/uploads.md.
enum UploadDialect: Sendable, Hashable, CaseIterable {
  /// tus 1.0 (tus.io/protocols/resumable-upload), which a request names by `Tus-Resumable`.
  case tus
  /// draft-ietf-httpbis-resumable-upload-01, which iOS 17 speaks and names by `Upload-Draft-Interop-Version: 3`.
  case draft01
  /// The current draft-ietf-httpbis-resumable-upload, which needs no name.
  case draft

  /// What a request that creates an upload says.
  struct Creation: Sendable, Hashable {
    /// The length of the upload; nil: it is not known yet.
    var length: Int64?
    /// Whether the body of the request has bytes of the upload.
    var hasContent: Bool
    /// Whether the upload is whole with the body.
    var isComplete: Bool
    var metadata: String?
  }

  /// What a request that appends to an upload says.
  struct Appending: Sendable, Hashable {
    let offset: Int64
    /// The length of the upload; nil: the request does not say it.
    var length: Int64?
    /// Whether the upload is whole with the body; false in tus, where that follows from the length.
    var isComplete: Bool
  }

  /// What is so after a request.
  struct State: Sendable, Hashable {
    var offset: Int64
    var length: Int64?
    var isWhole: Bool
  }

  init(_ headers: HeaderFields) {
    if headers["Tus-Resumable"] != nil {
      self = .tus
    } else {
      self = Self.interopVersion(headers) == 3 ? .draft01 : .draft
    }
  }

  static let tusVersion = "1.0.0"
  static let tusExtensions = "creation,creation-with-upload,expiration,termination"
  static let tusContent = "application/offset+octet-stream"
  static let draftContent = "application/partial-upload"
  private static let maxMetadata = 4096

  /// The version of the drafts that a request names; nil: none, or what is not a version.
  static func interopVersion(_ headers: HeaderFields) -> Int64? {
    StructuredItem(headers, "Upload-Draft-Interop-Version")?.count
  }

  /// Throws a problem unless the service speaks the version of the protocol that the request names.
  func check(_ head: RequestHead) throws(Problem) {
    guard self == .tus, head.headers["Tus-Resumable"] != Self.tusVersion else { return }
    throw ProblemKind.uploadVersion.problem(
      "The service speaks tus \(Self.tusVersion).", headers: ["Tus-Version": Self.tusVersion])
  }

  /// The method that a request means: clients of tus exist that can send neither PATCH nor DELETE.
  func method(of head: RequestHead) -> String {
    self == .tus ? head.headers["X-HTTP-Method-Override"] ?? head.method : head.method
  }

  /// Reads a request that creates an upload.
  func creation(_ head: RequestHead) throws(Problem) -> Creation {
    switch self {
    case .tus:
      guard let length = try Self.number(head, "Upload-Length") else {
        throw Self.invalid("Upload-Length", "is required")
      }
      let metadata = try Self.metadata(head)
      let hasContent = Self.contentType(head) == Self.tusContent
      guard hasContent || head.contentLength == 0 else { throw Self.wrongContent(Self.tusContent) }
      if hasContent { try Self.refuseChecksum(head) }
      return Creation(length: length, hasContent: hasContent, isComplete: length == 0, metadata: metadata)
    case .draft01, .draft:
      guard let isComplete = isComplete(head) else {
        throw Self.invalid(completeness, "is required; with tus, send Tus-Resumable")
      }
      let length = StructuredItem(head.headers, "Upload-Length")?.count
      return Creation(
        length: try declared(length, from: 0, isComplete, head), hasContent: head.contentLength != 0,
        isComplete: isComplete, metadata: nil)
    }
  }

  /// Reads a request that appends to an upload.
  func appending(_ head: RequestHead) throws(Problem) -> Appending {
    switch self {
    case .tus:
      try Self.refuseChecksum(head)
      // Generators of clients know only the general type of bytes.
      guard [Self.tusContent, "application/octet-stream"].contains(Self.contentType(head)) else {
        throw Self.wrongContent(Self.tusContent)
      }
      guard let offset = try Self.number(head, "Upload-Offset") else {
        throw Self.invalid("Upload-Offset", "is required")
      }
      return Appending(offset: offset, length: nil, isComplete: false)
    case .draft01, .draft:
      if self == .draft, Self.contentType(head) != Self.draftContent { throw Self.wrongContent(Self.draftContent) }
      guard let offset = StructuredItem(head.headers, "Upload-Offset")?.count else {
        throw Self.invalid("Upload-Offset", "is required")
      }
      // In the draft of iOS 17 a request without the field is the last.
      guard let isComplete = isComplete(head) ?? (self == .draft01 ? true : nil) else {
        throw Self.invalid(completeness, "is required")
      }
      let length = self == .draft ? StructuredItem(head.headers, "Upload-Length")?.count : nil
      return Appending(
        offset: offset, length: try declared(length, from: offset, isComplete, head), isComplete: isComplete)
    }
  }

  /// Throws a problem if a request that has no content says that it has: draft 01, sections 5 and 7.
  func checkWithoutContent(_ head: RequestHead) throws(Problem) {
    guard self == .draft01 else { return }
    for name in ["Upload-Offset", completeness] where head.headers[name] != nil {
      throw Self.invalid(name, "is not a field of \(head.method)")
    }
  }

  /// Whether an upload is whole with the last byte of a request.
  func isWhole(_ offset: Int64, of length: Int64?, with appending: Appending) -> Bool {
    self == .tus ? offset == length : appending.isComplete
  }

  // MARK: Header fields

  /// The field by which a request of a draft says whether its body ends the upload.
  private var completeness: String { self == .draft01 ? "Upload-Incomplete" : "Upload-Complete" }

  private func isComplete(_ head: RequestHead) -> Bool? {
    StructuredItem(head.headers, completeness)?.boolean.map { self == .draft01 ? !$0 : $0 }
  }

  /// The length that a request says, or that follows from its body; throws a problem if these differ.
  private func declared(
    _ length: Int64?, from offset: Int64, _ isComplete: Bool, _ head: RequestHead
  ) throws(Problem) -> Int64? {
    if let length, length < offset {
      throw ProblemKind.uploadLength.problem("The body begins at \(offset), and Upload-Length is \(length).")
    }
    guard let content = head.contentLength else { return length }
    let (sum, overflows) = offset.addingReportingOverflow(content)
    // As a number of tus that is too large.
    let end = overflows ? .max : sum
    if let length, isComplete ? end != length : end > length {
      throw ProblemKind.uploadLength.problem("The body ends at \(end), and Upload-Length is \(length).")
    }
    return isComplete ? end : length
  }

  /// A number of tus. One that is too large is the largest: it is as much over every limit.
  private static func number(_ head: RequestHead, _ name: String) throws(Problem) -> Int64? {
    let values = head.headers.values(name)
    guard let text = values.first else { return nil }
    guard values.count == 1, !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      throw invalid(name, "expected a number of bytes")
    }
    return Int64(text) ?? .max
  }

  /// Throws a problem for an extension that the service has not: bytes that a client wants to have checked are not taken unchecked.
  private static func refuseChecksum(_ head: RequestHead) throws(Problem) {
    guard head.headers["Upload-Checksum"] != nil else { return }
    throw invalid("Upload-Checksum", "is not supported: give the file a Repr-Digest at its creation")
  }

  /// The media type of the body, without its parameters.
  private static func contentType(_ head: RequestHead) -> String? {
    let type = (head.headers["Content-Type"] ?? "").utf8.prefix { ![0x3B, 0x20, 0x09].contains($0) }
    return type.count <= 100 ? Substring(type).lowercasedASCII : nil
  }

  /// What the client wants to be sent back: keys, each with a value in Base64 or without a value. nil: nothing.
  private static func metadata(_ head: RequestHead) throws(Problem) -> String? {
    let name = "Upload-Metadata"
    let text = head.headers.values(name).filter { !$0.isEmpty }.joined(separator: ",")
    guard !text.isEmpty else { return nil }
    guard text.utf8.count <= maxMetadata else { throw invalid(name, "is longer than \(maxMetadata) bytes") }
    var keys: Set<Substring> = []
    for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = pair.drop { $0 == " " }.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = parts.first, !key.isEmpty, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), keys.insert(key).inserted,
        parts.count == 1 || Data(base64Encoded: String(parts[1])) != nil
      else { throw invalid(name, "expected unique keys, each with a space and a value in Base64, or without a value") }
    }
    return text
  }

  static func invalid(_ name: String, _ detail: String) -> Problem {
    ProblemKind.invalidUpload.problem("The header field \(name) is invalid.", errors: [FieldError(name, detail)])
  }

  private static func wrongContent(_ type: String) -> Problem {
    ProblemKind.uploadContent.problem(
      "The Content-Type of bytes of an upload is \(type).",
      headers: ["Accept-Patch": "\(draftContent), \(tusContent)"])
  }
}
