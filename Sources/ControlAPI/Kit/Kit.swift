internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store
internal import Telemetry

/// What the routes of all capabilities share.
struct Kit: Sendable {
  let database: Pool
  /// A second pool for the same database, with a statement timeout, for lists that may scan many rows.
  let lists: Pool
  let store: Store
  let writes: BlobWrites
  let access: AccessControl
  let configuration: ControlAPI.Configuration
  let definitions: SubmissionDefinitions
  let metrics: Metrics
  let log: Logger

  /// Returns a text of 256 random bits.
  static func newSecret(_ prefix: String) -> String {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<SHA256Digest.count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    return prefix + (SHA256Digest(bytes: bytes)?.hex ?? "")
  }
}

/// What works with the kit, as with functions and properties of its own.
protocol KitHolder: Sendable {
  var kit: Kit { get }
}

/// The routes of a capability, with what they alone need.
protocol RouteRoom: KitHolder {
  var routes: [Route] { get }
}

extension KitHolder {
  var database: Pool { kit.database }
  var store: Store { kit.store }
  var access: AccessControl { kit.access }
  var configuration: ControlAPI.Configuration { kit.configuration }
  var definitions: SubmissionDefinitions { kit.definitions }
  var log: Logger { kit.log }
}

/// The quotas of requests.
extension KitHolder {
  /// Throws a problem before the body of a request is read, if the client has used its quota.
  ///
  /// - Parameter posts: the number of posts that the request makes.
  func checkQuota(_ request: Request, posts: Int, bytes: Int64) async throws {
    let senders = configuration.quotas.senders(request.caller, author: nil)
    guard !senders.isEmpty else { return }
    try await database.run { [store] session in
      try Quotas.check(senders, DailyUsage(posts: posts, bytes: bytes), store, session)
    }
  }

  /// Counts the bytes of an upload before they are sent.
  func chargeQuota(_ request: Request, bytes: Int64) async throws {
    let senders = configuration.quotas.senders(request.caller, author: nil)
    guard !senders.isEmpty, bytes > 0 else { return }
    try await database.transaction { [store] session in
      try Quotas.charge(senders, DailyUsage(bytes: bytes), store, session)
    }
  }
}
