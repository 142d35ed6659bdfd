internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Telemetry

/// The uploads on this machine, and the posts that await them.
struct LocalUploads: KitHolder {
  let kit: Kit
  let blobs: any BlobStore
  let openUploads: OpenUploads
  let contents = ArrivingContents()
  let awaitingPosts = AwaitingPosts()

  static func notFound(_ id: String) -> Problem {
    ProblemKind.uploadNotFound.problem("The upload \(id) does not exist.")
  }

  /// The folder of these uploads.
  func folder() throws(BlobError) -> UploadFolder {
    var uploads = try blobs.uploads()
    uploads.onDamage = logDamage
    return uploads
  }

  /// A damaged record is that of an upload which no client finds any more.
  @Sendable func logDamage(ofUpload id: PublicID, _ reason: String) {
    log.warning("the record of an upload is damaged", ["upload": "\(id)", "error": reason])
  }

  /// Reads an upload of a caller; nil if it does not exist, has expired, or is another client's.
  func record(_ id: PublicID, of caller: Caller) throws -> UploadRecord? {
    guard let record = try folder().record(id), caller.viewer.owns(record.user),
      expiry(of: record) > UploadClock.now
    else { return nil }
    return record
  }

  /// Returns when an upload expires, as it is now.
  func expiry(of record: UploadRecord) -> Date { (try? folder().expiry(of: record)) ?? record.expiresAt }

  func state(of record: UploadRecord) throws -> UploadDialect.State {
    guard let state = try folder().open(record.id)?.synchronizedState() else {
      // A post may have taken the bytes meanwhile.
      guard let length = try folder().record(record.id)?.finished else {
        throw Self.notFound("\(record.id)")
      }
      return UploadDialect.State(offset: length, length: length, isWhole: true)
    }
    return UploadDialect.State(
      offset: state.offset, length: state.isWhole ? state.offset : record.length, isWhole: state.isWhole)
  }
}
