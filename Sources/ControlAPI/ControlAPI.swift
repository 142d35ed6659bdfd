package import Blobs
import HTTPServer
package import Model
package import Platform
package import Postgres
package import Store
package import Telemetry

/// The HTTP API: routes for submitting, reading and playing posts and images, and for operating the service. `run()` must run
/// while it is served.
package struct ControlAPI: Sendable {
  let database: Pool
  let lists: Pool
  let store: Store
  let blobs: any BlobStore
  let reads: BlobReads
  let writes: BlobWrites
  let mediaSpace: MediaSpace
  let submissions: SharedLimit
  let uploadParts: SharedLimit
  let openUploads: OpenUploads
  let uploadTurns = UploadTurns()
  let contents = ArrivingContents()
  let awaitingPosts = AwaitingPosts()
  let configuration: Configuration
  let definitions: SubmissionDefinitions
  let access: AccessControl
  let changes: Changes
  let metrics: Metrics
  let isLive: @Sendable () -> Bool
  let scrub: ScrubQueue
  let exports = Exports()
  let waits = SharedLimit("waiting request", max: maxWaits, userShare: userWaits)
  let log: Logger
  let passwords: PasswordWork?

  /// The share of a user of the submissions that are received at the same time.
  static let userSubmissions = 16
  /// The maximum number of parts of uploads that are received at the same time, and the share of a user. A part needs no
  /// database connection, and less memory than a submission.
  static let maxUploadParts = 4096
  static let userUploadParts = 64
  /// The maximum number of requests that wait for a job, and the share of a user.
  static let maxWaits = 8192
  static let userWaits = 16

  /// - Parameters:
  ///   - lists: a second pool for the same database, with a statement timeout, for lists that may scan many rows.
  ///   - blobs: the blob store that uploads are staged in; the same one that `store` uses.
  ///   - definitions: the definitions that submissions are processed with.
  ///   - access: authorizes requests and limits their rate.
  ///   - changes: notifies waiting clients; its `run()` must run while the API is served.
  ///   - metrics: the registry that the API counts in and that `/metrics` returns.
  ///   - onUploadRefusal: called with the address of each client that has too many submissions or parts of uploads; it must
  ///     not block.
  ///   - scrub: receives the blobs that are served, so that their content is verified later.
  ///   - passwords: compares the passwords of accounts; nil: the service has no accounts.
  ///   - isLive: whether the process works; `/livez` returns 503 otherwise, and a supervisor should restart the process.
  package init(
    database: Pool, lists: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions,
    access: AccessControl, changes: Changes, metrics: Metrics, configuration: Configuration = Configuration(),
    scrub: ScrubQueue, passwords: PasswordWork? = nil, log: Logger,
    onUploadRefusal: @escaping @Sendable (IPAddress) -> Void = { _ in },
    isLive: @escaping @Sendable () -> Bool = { true }
  ) {
    self.database = database
    self.lists = lists
    self.store = store
    self.blobs = blobs
    self.configuration = configuration
    reads = BlobReads(blobs, limits: configuration.reads)
    writes = BlobWrites(blobs)
    self.definitions = definitions
    self.access = access
    self.changes = changes
    self.metrics = metrics
    self.isLive = isLive
    self.scrub = scrub
    self.passwords = passwords
    openUploads = OpenUploads(configuration.openUploads, maxBytes: definitions.maxBytes)
    mediaSpace = MediaSpace(blobs: blobs, minFree: configuration.minFree, uploads: openUploads)
    let submissions = SharedLimit(
      "concurrent submission", max: configuration.maxSubmissions, userShare: Self.userSubmissions,
      onRefusal: onUploadRefusal)
    self.submissions = submissions
    uploadParts = SharedLimit(
      "concurrent upload part", max: Self.maxUploadParts, userShare: Self.userUploadParts,
      onRefusal: onUploadRefusal)
    self.log = log
    metrics.measure {
      [
        MetricGauge("take5_uploads", "Submissions that are being received.", [:], Double(submissions.count)),
        MetricGauge("take5_event_streams", "Open streams of events.", [:], Double(changes.streams.count)),
      ]
    }
  }
}

extension ControlAPI {
  /// What an operator decides about the API.
  package struct Configuration: Sendable {
    /// The free space in bytes below which no media are accepted.
    package var minFree: Int64 = 256 << 20
    /// The maximum number of submissions that are received at the same time.
    package var maxSubmissions = 1024
    /// The lifetime of an upload that no submission has used, in seconds.
    package var uploadLifetime = 86_400.0
    /// Its lifetime without a byte while it is not whole, unless a post awaits it.
    package var uploadIdle = 3600.0
    /// What one client may have in uploads that no submission has used.
    package var openUploads = OpenUploads.Limits()
    /// What users and API keys may send on a day.
    package var quotas = Quotas()
    /// How long clients wait for blobs.
    package var reads = BlobReads.Limits()
    /// Whether clients read media from the blob store itself, if that has URLs.
    package var redirectsMedia = false

    package init() {}
  }
}

/// The definitions that submissions are processed with.
package struct SubmissionDefinitions: Sendable {
  /// The name of the definition of photo posts.
  package static let photoPost = "photo-post"

  /// The definition of moments.
  package var moment: Definition
  /// The definition of a marker's video.
  package var clip: Definition
  /// The definitions of photos and images, by name.
  package var photos: [String: PhotoDefinition]
  /// The kinds of collections, by name.
  package var collections: [String: CollectionDefinition]

  package init(
    moment: Definition, clip: Definition, photos: [String: PhotoDefinition],
    collections: [String: CollectionDefinition]
  ) {
    self.moment = moment
    self.clip = clip
    self.photos = photos
    self.collections = collections
  }

  /// The maximum length of a file of any submission.
  var maxBytes: Int64 { max(moment.limits.bytes, clip.limits.bytes, photos.values.map(\.limits.bytes).max() ?? 0) }

  /// Whether the definition for a kind of posts holds them.
  func holds(_ kind: PostKind) -> Bool {
    let rule =
      switch kind {
      case .take5: moment.moderation
      case .photo: photos[Self.photoPost]?.moderation
      case .marker: clip.moderation
      }
    return rule == .hold
  }
}
