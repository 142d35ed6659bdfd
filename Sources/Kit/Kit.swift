package import Blobs
internal import Crypto
package import HTTPServer
package import Postgres
package import Queue
package import Store
package import Telemetry

/// What the routes of all capabilities share.
package struct Kit: Sendable {
  let database: Pool
  let lists: Pool
  let store: Store
  package let writes: BlobWrites
  let access: AccessControl
  /// What users and API keys may send on a day.
  package let quotas: Quotas
  let definitions: SubmissionDefinitions
  package let metrics: Metrics
  package let log: Logger

  package init(
    database: Pool, lists: Pool, store: Store, writes: BlobWrites, access: AccessControl, quotas: Quotas,
    definitions: SubmissionDefinitions, metrics: Metrics, log: Logger
  ) {
    self.database = database
    self.lists = lists
    self.store = store
    self.writes = writes
    self.access = access
    self.quotas = quotas
    self.definitions = definitions
    self.metrics = metrics
    self.log = log
  }

  /// Returns a text of 256 random bits.
  package static func newSecret(_ prefix: String) -> String {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<SHA256Digest.count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    return prefix + (SHA256Digest(bytes: bytes)?.hex ?? "")
  }
}

/// What works with the kit, as with functions and properties of its own.
package protocol KitHolder: Sendable {
  var kit: Kit { get }
}

/// The routes of a capability, with what they alone need.
package protocol RouteRoom: KitHolder {
  var routes: [Route] { get }
}

extension KitHolder {
  package var database: Pool { kit.database }
  package var store: Store { kit.store }
  package var access: AccessControl { kit.access }
  package var definitions: SubmissionDefinitions { kit.definitions }
  package var log: Logger { kit.log }
}

extension Request {
  /// The request, as its job keeps it.
  package var jobRequest: JobRequest { JobRequest(id: id.description, trace: trace?.description) }
}
