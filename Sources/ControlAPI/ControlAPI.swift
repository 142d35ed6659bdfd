package import Blobs
import HTTPServer
package import Metrics
package import Model
package import Postgres
package import Store

/// The HTTP API: routes for submitting, reading and playing posts and images, and for operating the service. `run()` must run
/// while it is served.
package struct ControlAPI: Sendable {
  let database: Pool
  let lists: Pool
  let listTurns: ListTurns
  let store: Store
  let blobs: any BlobStore
  let mediaSpace: MediaSpace
  let uploads: UploadLimit
  let uploadParts = UploadLimit(max: maxUploadParts)
  let uploadTurns = UploadTurns()
  let contents = ArrivingContents()
  let awaitingPosts = AwaitingPosts()
  let uploadLifetime: Double
  let quotas: Quotas
  let definitions: SubmissionDefinitions
  let access: AccessControl
  let changes: Changes
  let metrics: Metrics
  let isLive: @Sendable () -> Bool
  let scrub: ScrubQueue
  let exports = Exports()
  let passwords: PasswordWork?
  let redirectsMedia: Bool

  /// The maximum number of parts of uploads that are received at the same time. A part needs no database connection, and
  /// less memory than a submission.
  static let maxUploadParts = 4096

  /// - Parameters:
  ///   - lists: a second pool for the same database, with a statement timeout, for lists that may scan many rows.
  ///   - blobs: the blob store that uploads are staged in; the same one that `store` uses.
  ///   - definitions: the definitions that submissions are processed with.
  ///   - access: authorizes requests and limits their rate.
  ///   - changes: notifies waiting clients; its `run()` must run while the API is served.
  ///   - metrics: the registry that the API counts in and that `/metrics` returns.
  ///   - minFree: the free space in bytes below which no media are accepted.
  ///   - uploads: limits the number of concurrent submissions.
  ///   - uploadLifetime: the lifetime of an upload that no stored submission has used, in seconds.
  ///   - quotas: what users and API keys may send on a day.
  ///   - scrub: receives the blobs that are served, so that their content is verified later.
  ///   - passwords: compares the passwords of accounts; nil: the service has no accounts.
  ///   - listPatience: the time for which a list waits for its turn.
  ///   - redirectsMedia: whether clients read media from the blob store itself, if that has URLs.
  ///   - isLive: whether the process works; `/livez` returns 503 otherwise, and a supervisor should restart the process.
  package init(
    database: Pool, lists: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions,
    access: AccessControl, changes: Changes, metrics: Metrics, minFree: Int64 = 256 << 20,
    uploads: UploadLimit = UploadLimit(), uploadLifetime: Double = 86_400, quotas: Quotas = Quotas(), scrub: ScrubQueue,
    passwords: PasswordWork? = nil, redirectsMedia: Bool = false,
    listPatience: Duration = .seconds(5),
    isLive: @escaping @Sendable () -> Bool = { true }
  ) {
    self.database = database
    self.lists = lists
    listTurns = ListTurns(connections: lists.size, patience: listPatience)
    self.store = store
    self.blobs = blobs
    self.definitions = definitions
    self.access = access
    self.changes = changes
    self.metrics = metrics
    self.isLive = isLive
    self.scrub = scrub
    self.passwords = passwords
    self.redirectsMedia = redirectsMedia
    mediaSpace = MediaSpace(blobs: blobs, minFree: minFree)
    self.uploads = uploads
    self.uploadLifetime = uploadLifetime
    self.quotas = quotas
    metrics.measure {
      [
        MetricGauge("take5_uploads", "Submissions that are being received.", [:], Double(uploads.count)),
        MetricGauge("take5_event_streams", "Open streams of events.", [:], Double(changes.streams.count)),
      ]
    }
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
