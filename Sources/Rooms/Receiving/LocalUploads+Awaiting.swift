internal import Blobs
internal import Crypto
import FoundationEssentials
internal import Kit
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store
internal import Telemetry

/// The posts to look at because an upload that they await is whole or refused. One that changes while it is looked at has no second place
/// among them: it is looked at again.
final class AwaitingPosts: Sendable {
  let changed: AsyncStream<PublicID>
  private let continuation: AsyncStream<PublicID>.Continuation
  /// The posts that are in `changed` or are looked at, and whether they have changed since.
  private let pending = Locked<[PublicID: Bool]>([:])

  init() { (changed, continuation) = AsyncStream.makeStream() }

  func reconsider(_ post: PublicID) {
    let isNew = pending.withLock { pending in
      let isNew = pending[post] == nil
      pending[post] = !isNew
      return isNew
    }
    if isNew { continuation.yield(post) }
  }

  /// Ends a look at a post; true if it is to be looked at again.
  func hasChanged(_ post: PublicID) -> Bool {
    pending.withLock { pending in
      let hasChanged = pending[post] == true
      pending[post] = hasChanged ? false : nil
      return hasChanged
    }
  }
}

/// Posts whose submissions came before the bytes of their uploads: they are processed once all uploads are whole.
///
/// The request that sends the last byte does not wait for that, so that no upload waits for the database. What a crash or an
/// outage prevents is done by the next round over all these posts.
extension LocalUploads {
  static let roundInterval = Duration.seconds(30)
  static let expiryInterval = Duration.seconds(300)
  static let collectInterval = Duration.seconds(120)

  /// The number of posts that are looked at together: the media of one may take long on their way to a bucket.
  private static let concurrentPosts = 4

  /// Processes posts as their uploads become whole, and removes uploads that have expired, until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await reconsiderChanged() }
      group.addTask {
        repeat { await reconsiderAll() } while (try? await Task.sleep(for: Self.roundInterval)) != nil
      }
      group.addTask {
        repeat { await collectReleased() } while (try? await Task.sleep(for: Self.collectInterval)) != nil
      }
      group.addTask {
        repeat { await makeRoom() } while (try? await Task.sleep(for: Self.roundInterval)) != nil
      }
      group.addTask {
        repeat { await removeExpired() } while (try? await Task.sleep(for: Self.expiryInterval)) != nil
      }
    }
  }

  /// Removes what was released before its pause, and what a killed process began to remove: until the removal ends, the same bytes are
  /// refused, and there may be no worker.
  func collectReleased() async {
    do {
      while try await store.collecting.collectReleased(database).examined > 0 { try Task.checkCancellation() }
    } catch {
      logCollecting(error)
    }
  }

  /// Removes what was released before its pause has ended, while the storage is nearly full. No transaction begins unless it is.
  func makeRoom() async {
    do { try await store.collecting.makeRoom(database) } catch { logCollecting(error) }
  }

  private func logCollecting(_ error: any Error) {
    guard !Task.isCancelled else { return }
    log.warning("released blobs could not be collected yet", ["error": "\(error)"])
  }

  /// Removes the uploads of this machine that have expired, or whose user was deleted: a worker with another folder does not have them.
  func removeExpired() async {
    do {
      try await Forgetting.removeUploads(blobs, database, onDamage: logDamage)
      try await onThread("uploads") { [blobs, openUploads] in try openUploads.read(blobs.uploads()) }
    } catch {
      log.warning("the uploads could not be read", ["error": "\(error)"])
    }
  }

  private func reconsiderChanged() async {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for await post in awaitingPosts.changed {
        if running == Self.concurrentPosts {
          await group.next()
          running -= 1
        }
        group.addTask {
          repeat { await tryToReconsider(post, isRound: false) } while awaitingPosts.hasChanged(post)
        }
        running += 1
      }
    }
  }

  /// Looks at the posts of all machines.
  func reconsiderAll() async {
    var last: Int64? = 0
    do {
      while let number = last {
        let posts = try await database.run { try AwaitedUploads.posts(after: number, $0) }
        try await posts.forEach(concurrently: Self.concurrentPosts) { _, post in
          await tryToReconsider(post, isRound: true)
        } receive: { _, _ in
        }
        last = posts.last?.number
      }
    } catch {
      logFailure(error, [:])
    }
  }

  /// Looks at a post. What keeps it from being processed keeps no other post from it, and the next round looks at it again.
  private func tryToReconsider(_ post: PublicID, isRound: Bool) async {
    do {
      do { try await reconsider(post, isRound: isRound) } catch {
        // Another look may have ended the wait meanwhile, and removed the uploads.
        guard try await isAwaiting(post) else { return }
        throw error
      }
    } catch {
      logFailure(error, ["post": "\(post)"])
    }
  }

  private func isAwaiting(_ post: PublicID) async throws -> Bool {
    try await !database.run { try AwaitedUploads.list(of: post, $0) }.isEmpty
  }

  private func logFailure(_ error: any Error, _ subject: KeyValuePairs<String, String?>) {
    guard !Task.isCancelled else { return }
    log.with(subject).warning("a post that awaits uploads could not be looked at", ["error": "\(error)"])
  }

  /// Processes a post if all of its uploads are whole; rejects it if one of them is refused, has expired or was deleted.
  ///
  /// - Parameter isRound: whether the post is one of any machine: an upload that is not here may be on another one, as long as an
  ///   upload lives.
  private func reconsider(_ post: PublicID, isRound: Bool) async throws {
    let mayBeElsewhere = isRound && post.seconds + lifetime > UploadClock.now.timeIntervalSince1970
    let (draft, awaited) = try await database.run { session in
      (try Subject.post(post).draft(session), try AwaitedUploads.list(of: post, session))
    }
    guard let draft, !awaited.isEmpty else { return }
    var hashes: [PublicID: SHA256Digest] = [:]
    do {
      let found = try await onThread("uploads") {
        let found = try media(of: draft, awaited, mayBeElsewhere)
        if case .whole(let whole) = found { for source in whole.sources { try blobs.prepare(source.content) } }
        return found
      }
      switch found {
      case .incomplete: return
      case .lost(let uploads):
        // Another look may have ended the wait meanwhile.
        guard try await isAwaiting(post) else { return }
        return try await onThread("uploads") { try reopen(uploads, of: post) }
      case .whole(let whole):
        try await store.transaction(publishing: whole.sources, database) { session in
          guard
            try AwaitedUploads.process(
              post, sources: whole.sources, definition: whole.definition, store, session)
          else { return }
          try JobQueue.notify(queues: JobKinds.submissionQueues, session)
        }
        kit.metrics.count(draft.kind.rawValue, whole.sources)
        hashes = whole.hashes
      }
    } catch let refusal as MediaRefusal {
      try await reject(post, refusal.reasons)
    } catch let refusal as QuarantineRefusal {
      try await reject(post, refusal.reasons)
    }
    try await onThread("uploads") { [hashes] in finish(awaited.map(\.upload), as: hashes) }
  }

  private func reject(_ post: PublicID, _ reasons: [Reason]) async throws {
    _ = try await database.transaction { session in
      try AwaitedUploads.reject(post, reasons, session)
    }
  }

  private struct WholeMedia: Sendable {
    let sources: [NewAsset]
    let definition: MediaDefinition
    /// Of each upload.
    let hashes: [PublicID: SHA256Digest]
  }

  /// The media of a post in the uploads of this machine.
  private enum Found: Sendable {
    case whole(WholeMedia)
    /// Bytes have not come yet, or are on another machine.
    case incomplete
    /// Uploads were whole, and their bytes are lost.
    case lost([PublicID])
  }

  /// Returns the media of a post, as far as they are on this machine.
  private func media(of draft: PostDraft, _ awaited: [AwaitedUpload], _ mayBeElsewhere: Bool) throws -> Found {
    // A post may wait for days, and rounds come each half minute: nothing is read before all is there.
    if let waiting = try absence(among: awaited, mayBeElsewhere) { return waiting }
    var content: [MediaPart: [JudgedFile]] = [:]
    var hashes: [PublicID: SHA256Digest] = [:]
    var lost: [PublicID] = []
    for awaited in awaited {
      guard let part = MediaPart(rawValue: awaited.part), let record = try folder().record(awaited.upload),
        let bytes = try bytes(of: record)
      else { return try Self.absent(mayBeElsewhere) }
      switch bytes {
      case .whole(let blob):
        hashes[awaited.upload] = blob.hash
        content[part, default: []].append(try JudgedFile(blob, accepting: definitions.accepted(part)))
      case .partial: return .incomplete
      case .lost: lost.append(awaited.upload)
      }
    }
    guard lost.isEmpty else { return .lost(lost) }
    let media = try ArrangedMedia(content, of: draft, textField: "caption")
    return .whole(
      WholeMedia(sources: try media.sources(), definition: definitions.definition(of: media), hashes: hashes))
  }

  /// Looks for the bytes of uploads, and reads none. Returns what keeps the post waiting; nil: nothing does.
  private func absence(among awaited: [AwaitedUpload], _ mayBeElsewhere: Bool) throws -> Found? {
    var (isWhole, lost) = (true, [PublicID]())
    for awaited in awaited {
      guard MediaPart(rawValue: awaited.part) != nil, let record = try folder().record(awaited.upload),
        let presence = try presence(of: record)
      else { return try Self.absent(mayBeElsewhere) }
      if let reason = record.refusal { throw MediaRefusal(reasons: [reason]) }
      switch presence {
      case .whole: break
      case .partial:
        if record.expiresAt <= UploadClock.now { throw MediaRefusal(reasons: [.uploadExpired]) }
        isWhole = false
      case .lost: lost.append(awaited.upload)
      }
    }
    guard lost.isEmpty else { return .lost(lost) }
    return isWhole ? nil : Found.incomplete
  }

  /// What is not on this machine has expired, unless it may be on another one.
  private static func absent(_ mayBeElsewhere: Bool) throws -> Found {
    guard mayBeElsewhere else { throw MediaRefusal(reasons: [.uploadExpired]) }
    return .incomplete
  }
}
