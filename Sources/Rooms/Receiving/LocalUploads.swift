internal import Blobs
internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import ISOBaseMedia
internal import Kit
internal import Model
internal import Store
internal import Telemetry

/// The uploads on this machine, and the posts that await them.
struct LocalUploads: KitHolder {
  let kit: Kit
  let blobs: any BlobStore
  /// The lifetime of an upload that no submission has used, in seconds.
  let lifetime: Double
  /// Its lifetime without a byte while it is not whole, unless a post awaits it.
  let idle: Double
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
      guard let record = try folder().record(record.id), record.isFinished, let length = record.length else {
        throw Self.notFound("\(record.id)")
      }
      return UploadDialect.State(offset: length, length: length, isWhole: true)
    }
    return UploadDialect.State(
      offset: state.offset, length: state.isWhole ? state.offset : record.length, isWhole: state.isWhole)
  }

  /// Looks up the uploads that a submission names; throws a problem if one is too large or was refused as it arrived.
  ///
  /// - Parameter accepting: what the file of a part may be.
  func content(
    of references: UploadReferences, for caller: Caller, accepting: (MediaPart) -> AcceptedMedia
  ) throws -> ReferredContent {
    var content: [MediaPart: [JudgedFile]] = [:]
    var unready: [FieldError] = []
    for part in MediaPart.allCases {
      for id in references.ids[part] ?? [] {
        guard let record = try record(id, of: caller), !record.isFinished,
          let file = try folder().open(id)
        else {
          return .missing(
            ProblemKind.uploadNotFound.problem(
              "The upload \(id) does not exist.", errors: [FieldError(part.rawValue, "the upload does not exist")]))
        }
        if let reason = record.refusal { throw reason.problem }
        let (state, accepted) = (try file.synchronizedState(), accepting(part))
        if record.isCut(state) {
          return .missing(
            ProblemKind.uploadNotFound.problem(
              "The bytes of the upload \(id) are lost.", errors: [FieldError(part.rawValue, "its bytes are lost")]))
        }
        guard max(state.offset, record.length ?? 0) <= accepted.maxBytes else {
          throw MultipartError.partTooLarge(name: part.rawValue, limit: accepted.maxBytes).problem
        }
        guard state.isWhole else {
          let rest = record.length.map { "of \($0) " } ?? ""
          unready.append(FieldError(part.rawValue, "\(state.offset) \(rest)bytes of the upload \(id) have arrived"))
          continue
        }
        content[part, default: []].append(
          try JudgedFile(file.sealed(hash: hash(of: record)), accepting: accepted))
      }
    }
    return unready.isEmpty ? .whole(content) : .awaited(references.all, unready: unready)
  }

  /// The hash of a whole upload; nil: it is not known. What has arrived again may be other bytes than those that a process remembers.
  func hash(of record: UploadRecord) -> SHA256Digest? {
    record.wasReopened ? nil : contents.hash(of: record.id)
  }

  /// When the first of the uploads that a submission names was created; nil: it names none that exists.
  func creation(of references: UploadReferences?) throws -> Date? {
    try (references?.all ?? []).compactMap { try folder().record($0.upload)?.createdAt }.min()
  }

  /// Records in the uploads that a post awaits them, so that the last byte of the last one starts its job. The post is stored: for an
  /// upload that cannot say so, it is looked at in the next round.
  func register(_ uploads: [AwaitedUpload], awaitedBy post: PublicID) {
    for awaited in uploads {
      do {
        let record = try folder().update(awaited.upload) { $0.awaited = .init(post: post, part: awaited.part) }
        if let record { openUploads.update(record) }
      } catch {
        log.warning(
          "an upload does not name the post that awaits it",
          ["upload": "\(awaited.upload)", "post": "\(post)", "error": "\(error)"])
      }
    }
    // The last byte may have come before the record said so.
    awaitingPosts.reconsider(post)
  }

  /// Lets the post that awaits an upload be looked at, which is whole.
  func reconsider(awaiting upload: PublicID) {
    do {
      // Read again: a submission may have named the upload meanwhile. One that comes later sees that it is whole.
      if let post = try folder().record(upload)?.awaited?.post { awaitingPosts.reconsider(post) }
    } catch {
      log.warning(
        "the post that awaits an upload is looked at in the next round", ["upload": "\(upload)", "error": "\(error)"])
    }
  }

  /// Removes the bytes of uploads that a post has awaited: its client may still ask whether all have arrived.
  ///
  /// - Parameter hashes: the blobs that they have become.
  func finish(_ uploads: [PublicID], as hashes: [PublicID: SHA256Digest]) {
    for id in uploads {
      do { try folder().finish(id, as: hashes[id], now: .now) } catch {
        log.warning("the bytes of an upload remain until it expires", ["upload": "\(id)", "error": "\(error)"])
      }
      openUploads.remove(id)
    }
  }

  /// Removes uploads that a submission has used: their content is that of blobs. One that remains, because the process ends
  /// here, expires.
  func remove(_ uploads: [PublicID]) {
    for id in uploads {
      // try?: what remains expires.
      _ = try? folder().remove(id)
      contents.forget(id)
      openUploads.remove(id)
    }
  }
}
