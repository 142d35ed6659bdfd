internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Postgres
internal import Queue
internal import Store
internal import Telemetry

/// What the routes of all capabilities share.
struct Kit: Sendable {
  let database: Pool
  let lists: Pool
  let store: Store
  let writes: BlobWrites
  let access: AccessControl
  /// What users and API keys may send on a day.
  let quotas: Quotas
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
  var definitions: SubmissionDefinitions { kit.definitions }
  var log: Logger { kit.log }
}

extension Request {
  /// The request, as its job keeps it.
  var jobRequest: JobRequest { JobRequest(id: id.description, trace: trace?.description) }
}
