import FoundationEssentials
internal import HTTPServer

/// A protocol of resumable uploads: how requests say what they mean, and responses what is so. docs/uploads.md.
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
    /// Whether the upload is whole with the body.
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
      self = headers["Upload-Draft-Interop-Version"] == "3" ? .draft01 : .draft
    }
  }

  /// The header fields of an interim response; nil if a client of the protocol, or its way to the service, understands none.
  ///
  /// Only a client that speaks a draft knows the status. A proxy that names itself may be one that passes it on as the final
  /// response, as nginx 1.22 does.
  func interim(_ head: RequestHead, _ fields: HeaderFields) -> HeaderFields? {
    let proxied = ["Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP"]
    guard self != .tus, !proxied.contains(where: { head.headers[$0] != nil }) else { return nil }
    var fields = fields
    if self == .draft01 { fields["Upload-Draft-Interop-Version"] = "3" }
    return fields
  }

  static let tusVersion = "1.0.0"
  static let tusExtensions = "creation,creation-with-upload,expiration,termination"
  static let tusContent = "application/offset+octet-stream"
  static let draftContent = "application/partial-upload"
  private static let maxMetadata = 4096

  /// Throws a problem unless the service speaks the version of the protocol that the request names.
  func check(_ head: RequestHead) throws(Problem) {
    guard self == .tus, head.headers["Tus-Resumable"] != Self.tusVersion else { return }
    throw ProblemKind.uploadVersion.problem(
      "The service speaks tus \(Self.tusVersion).", headers: ["Tus-Version": Self.tusVersion])
  }

  /// Reads a request that creates an upload.
  func creation(_ head: RequestHead) throws(Problem) -> Creation {
    try check(head)
    let length = try Self.number(head, "Upload-Length")
    switch self {
    case .tus:
      guard let length else { throw Self.invalid("Upload-Length", "is required") }
      let metadata = head.headers["Upload-Metadata"]
      guard metadata?.utf8.count ?? 0 <= Self.maxMetadata else {
        throw Self.invalid("Upload-Metadata", "is longer than \(Self.maxMetadata) bytes")
      }
      let hasContent = head.headers["Content-Type"]?.lowercased() == Self.tusContent
      guard hasContent || head.contentLength == 0 else { throw Self.wrongContent(Self.tusContent) }
      return Creation(length: length, hasContent: hasContent, isComplete: false, metadata: metadata)
    case .draft01, .draft:
      guard let isComplete = try isComplete(head) else {
        throw Self.invalid("Upload-Complete", "is required; with tus, send Tus-Resumable")
      }
      return Creation(
        length: try declared(length, from: 0, isComplete, head), hasContent: true, isComplete: isComplete, metadata: nil
      )
    }
  }

  /// Reads a request that appends to an upload.
  func appending(_ head: RequestHead) throws(Problem) -> Appending {
    try check(head)
    guard let offset = try Self.number(head, "Upload-Offset") else {
      throw Self.invalid("Upload-Offset", "is required")
    }
    let type = head.headers["Content-Type"]?.lowercased()
    switch self {
    case .tus:
      guard type == Self.tusContent else { throw Self.wrongContent(Self.tusContent) }
      return Appending(offset: offset, length: nil, isComplete: false)
    case .draft01:
      let isComplete = try isComplete(head) ?? true
      return Appending(
        offset: offset, length: try declared(nil, from: offset, isComplete, head), isComplete: isComplete)
    case .draft:
      guard type == Self.draftContent else { throw Self.wrongContent(Self.draftContent) }
      guard let isComplete = try isComplete(head) else { throw Self.invalid("Upload-Complete", "is required") }
      let length = try Self.number(head, "Upload-Length")
      return Appending(
        offset: offset, length: try declared(length, from: offset, isComplete, head), isComplete: isComplete)
    }
  }

  /// The header fields that say what is so.
  ///
  /// - Parameter maxBytes: the maximum length of an upload.
  func headers(_ state: State, expiresAt: Date, maxBytes: Int64) -> HeaderFields {
    var headers: HeaderFields = ["Upload-Offset": "\(state.offset)", "Cache-Control": "no-store"]
    switch self {
    case .tus:
      headers["Tus-Resumable"] = Self.tusVersion
      headers["Upload-Expires"] = ResponseHead.date(Int(expiresAt.timeIntervalSince1970))
      if let length = state.length { headers["Upload-Length"] = "\(length)" }
    case .draft01:
      headers["Upload-Draft-Interop-Version"] = "3"
      headers["Upload-Incomplete"] = state.isWhole ? "?0" : "?1"
    case .draft:
      headers["Upload-Complete"] = state.isWhole ? "?1" : "?0"
      for field in limit(expiresAt: expiresAt, maxBytes: maxBytes) { headers[field.name] = field.value }
      if let length = state.length { headers["Upload-Length"] = "\(length)" }
    }
    return headers
  }

  /// What the current draft says of the limits of an upload.
  func limit(expiresAt: Date, maxBytes: Int64) -> HeaderFields {
    guard self == .draft else { return [:] }
    return ["Upload-Limit": "max-size=\(maxBytes), max-age=\(max(0, Int(expiresAt.timeIntervalSinceNow)))"]
  }

  /// The type of a problem: in the current draft that of the draft, which its clients know.
  func type(of problem: Problem) -> Problem {
    guard self == .draft, let name = Self.draftTypes[problem.type] else { return problem }
    var problem = problem
    problem.type = "https://iana.org/assignments/http-problem-types#\(name)"
    return problem
  }

  private static let draftTypes = [
    ProblemKind.uploadOffset.type: "mismatching-upload-offset", ProblemKind.uploadWhole.type: "completed-upload",
    ProblemKind.uploadLength.type: "inconsistent-upload-length",
  ]

  /// Whether a request says that its body ends the upload; nil: it does not say.
  private func isComplete(_ head: RequestHead) throws(Problem) -> Bool? {
    let name = self == .draft01 ? "Upload-Incomplete" : "Upload-Complete"
    switch head.headers[name] {
    case nil: return nil
    case "?1": return self == .draft
    case "?0": return self == .draft01
    default: throw Self.invalid(name, "expected ?0 or ?1")
    }
  }

  /// The length that a request says, or that follows from its body; throws a problem if these differ.
  private func declared(
    _ length: Int64?, from offset: Int64, _ isComplete: Bool, _ head: RequestHead
  ) throws(Problem) -> Int64? {
    guard let content = head.contentLength else { return length }
    let (end, overflows) = offset.addingReportingOverflow(content)
    if let length, overflows || (isComplete ? end != length : end > length) {
      throw type(of: ProblemKind.uploadLength.problem("The body ends at \(end), and Upload-Length is \(length)."))
    }
    return isComplete && !overflows ? end : length
  }

  private static func number(_ head: RequestHead, _ name: String) throws(Problem) -> Int64? {
    guard let text = head.headers[name] else { return nil }
    guard 1...18 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int64(text) else {
      throw invalid(name, "expected a number of bytes")
    }
    return number
  }

  static func invalid(_ name: String, _ detail: String) -> Problem {
    ProblemKind.invalidUpload.problem("The header field \(name) is invalid.", errors: [FieldError(name, detail)])
  }

  private static func wrongContent(_ type: String) -> Problem {
    ProblemKind.uploadContent.problem("The Content-Type of bytes of an upload is \(type).")
  }
}
