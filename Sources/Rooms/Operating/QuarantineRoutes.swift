internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of quarantined media.
struct QuarantineRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("GET", "/v1/operations/quarantine", access: .key([.admin]), handler: list),
      route("DELETE", "/v1/operations/quarantine/{hash}", access: .key([.admin]), handler: release),
    ]
  }

  /// The maximum number of media in the list.
  private static let maxMedia = 1000

  private func list(_ request: Request) async throws -> Response {
    let media = try await queryList { session in
      try session.snapshot { try Quarantine.list(limit: Self.maxMedia, $0) }
    }
    return try .uncached(PageResponse(items: media.map(QuarantinedResponse.init), next: nil))
  }

  private func release(_ request: Request) async throws -> Response {
    let text = request.parameter("hash")
    let isReleased = try await database.transaction { session in
      guard let hash = SHA256Digest(hex: text),
        let media = try Quarantine.list(prefix: hash.hex, session).first
      else { return false }
      try request.checkVersion(of: nil)
      return try Quarantine.release(media, session)
    }
    guard isReleased else {
      throw ProblemKind.quarantineNotFound.problem("No quarantined media have the hash \(text).")
    }
    return await collectingReleased()
  }
}

/// The JSON of quarantined media; unknown values are null.
struct QuarantinedResponse: NilEncodable {
  struct File: Encodable {
    let role: Role
    let hash: String
    let bytes: Int64
  }

  let hash: String
  let kind: QuarantinedMedia.Kind
  let code: ReasonCode
  let error: String
  let stage: String?
  let signal: String?
  let crashes: Int
  let firstAt: Date
  let lastAt: Date
  let quarantinedAt: Date
  let files: [File]

  init(_ media: QuarantinedMedia) {
    hash = media.hash.hex
    kind = media.kind
    code = media.crash.code
    error = media.crash.error
    stage = media.crash.stage
    signal = media.crash.signal
    crashes = media.crashes
    firstAt = media.firstAt
    lastAt = media.lastAt
    quarantinedAt = media.quarantinedAt
    files = media.inputs.map { File(role: $0.role, hash: $0.hash.hex, bytes: $0.bytes) }
  }
}
