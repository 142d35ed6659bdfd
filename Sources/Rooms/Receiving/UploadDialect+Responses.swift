internal import Blobs
internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit

/// How the responses of each protocol say what is so.
extension UploadDialect {
  /// The header fields of every response to a request that creates or uses an upload, also of a refusal before its route.
  ///
  /// - Parameter limits: the maximum length of an upload and its lifetime in seconds, which the protocols describe by OPTIONS.
  static func commonFields(_ head: RequestHead, limits: (bytes: Int64, seconds: Double)) -> HeaderFields {
    let segments = head.target.segments.prefix(2).map(\.utf8)
    guard segments.count == 2, segments[0].elementsEqual("v1".utf8), segments[1].elementsEqual("uploads".utf8) else {
      return [:]
    }
    var fields: HeaderFields = ["Cache-Control": "no-store"]
    let dialect = UploadDialect(head.headers)
    if dialect == .draft01 { fields["Upload-Draft-Interop-Version"] = "3" }
    // The preflight of a browser is such a response too.
    let isDescription = dialect.method(of: head) == "OPTIONS"
    if dialect == .tus || isDescription { fields["Tus-Resumable"] = tusVersion }
    if isDescription {
      fields["Tus-Version"] = tusVersion
      fields["Tus-Extension"] = tusExtensions
      fields["Tus-Max-Size"] = "\(limits.bytes)"
      fields["Upload-Limit"] = "max-size=\(limits.bytes), max-age=\(Int(limits.seconds))"
    }
    return fields
  }

  /// The header fields that say what is so.
  ///
  /// - Parameter maxBytes: the maximum length of an upload.
  func headers(_ state: State, expiresAt: Date, maxBytes: Int64) -> HeaderFields {
    var headers: HeaderFields = ["Upload-Offset": "\(state.offset)"]
    switch self {
    case .tus:
      headers["Upload-Expires"] = Self.expiry(expiresAt)
      if let length = state.length { headers["Upload-Length"] = "\(length)" }
    case .draft01: headers["Upload-Incomplete"] = state.isWhole ? "?0" : "?1"
    case .draft:
      headers["Upload-Complete"] = state.isWhole ? "?1" : "?0"
      headers["Upload-Limit"] = limit(expiresAt: expiresAt, maxBytes: maxBytes)
      if let length = state.length { headers["Upload-Length"] = "\(length)" }
    }
    return headers
  }

  private static func expiry(_ expiresAt: Date) -> String { ResponseHead.date(Int(expiresAt.timeIntervalSince1970)) }

  /// What the current draft says of the limits of an upload; nil in the other protocols.
  func limit(expiresAt: Date, maxBytes: Int64) -> String? {
    guard self == .draft else { return nil }
    return "max-size=\(maxBytes), max-age=\(max(0, Int(expiresAt.timeIntervalSinceNow)))"
  }

  // MARK: Interim responses

  /// The versions of the current draft: what they say of these responses is the same.
  private static let interimVersions: ClosedRange<Int64> = 6...10

  /// The header fields of every interim response; nil if the client has not asked for any, or its way to the service passes none
  /// on.
  ///
  /// A client asks by a version that the service speaks, or by content of the current draft (decision 27). A proxy that names
  /// itself may be one that passes the response on as the final one, as nginx 1.22 does.
  func interim(_ request: Request) -> HeaderFields? {
    let headers = request.headers
    let namesProxy = headers.contains { field in
      let name = field.name.lowercased()
      return ["via", "forwarded", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
    }
    guard request.head.version == .http11, !request.isProxied, !namesProxy else { return nil }
    let version = Self.interopVersion(headers)
    switch self {
    case .tus: return nil
    case .draft01: return ["Upload-Draft-Interop-Version": "3"]
    case .draft:
      if let version, Self.interimVersions ~= version { return ["Upload-Draft-Interop-Version": "\(version)"] }
      return headers["Upload-Draft-Interop-Version"] == nil && request.head.contentLength != 0 ? [:] : nil
    }
  }

  // MARK: Problems

  /// A problem with what the protocol says in it.
  ///
  /// - Parameters:
  ///   - record: the upload; nil: the request found or made none.
  ///   - offset: the number of bytes that have arrived; nil: the upload does not exist.
  ///   - expiresAt: when the upload expires.
  ///   - isFinal: whether nothing can be made of the upload, so that its bytes do not help.
  func completing(
    _ problem: Problem, _ record: UploadRecord?, offset: Int64?, expiresAt: Date?, isFinal: Bool, limit: String?
  ) -> Problem {
    var problem = problem
    name(&problem, record)
    guard problem.status != .notFound else { return problem }
    switch self {
    case .tus: if let expiresAt { problem.headers["Upload-Expires"] = Self.expiry(expiresAt) }
    case .draft01: if let offset { problem.headers["Upload-Offset"] = "\(offset)" }
    case .draft:
      problem.headers["Upload-Complete"] = isFinal ? "?1" : "?0"
      if problem.status == .contentTooLarge { problem.headers["Upload-Limit"] = limit }
    }
    return problem
  }

  /// Replaces the type of a problem by the registered one, which clients of the drafts know.
  private func name(_ problem: inout Problem, _ record: UploadRecord?) {
    guard self != .tus, let name = Self.registeredTypes[problem.type] else { return }
    problem.type = "https://iana.org/assignments/http-problem-types#\(name)"
    guard name == Self.mismatchingDigest, let digest = record?.digest.flatMap({ SHA256Digest(hex: $0) }) else { return }
    problem.members.append(ReprDigest.mismatch(digest))
  }

  private static let mismatchingDigest = "digest-mismatching-values"
  private static let registeredTypes = [
    ProblemKind.uploadOffset.type: "mismatching-upload-offset",
    ProblemKind.uploadLength.type: "inconsistent-upload-length",
    ProblemKind.digestMismatch.type: mismatchingDigest,
  ]
}
