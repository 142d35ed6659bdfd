internal import Blobs
import FoundationEssentials
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store

/// The posts to look at because an upload that they await is whole or refused.
final class AwaitingPosts: Sendable {
  let changed: AsyncStream<PublicID>
  private let continuation: AsyncStream<PublicID>.Continuation

  init() { (changed, continuation) = AsyncStream.makeStream() }

  func reconsider(_ post: PublicID) { continuation.yield(post) }
}

/// Posts whose submissions came before the bytes of their uploads: they are processed once all uploads are whole.
///
/// The request that sends the last byte does not wait for that, so that no upload waits for the database. What a crash or an
/// outage prevents is done by the next round over all these posts.
extension ControlAPI {
  private static let roundInterval = Duration.seconds(30)

  /// Processes posts as their uploads become whole, until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await post in awaitingPosts.changed { try? await reconsider(post, isRound: false) }
      }
      group.addTask {
        repeat {
          try? await reconsiderAll()
        } while (try? await Task.sleep(for: Self.roundInterval)) != nil
      }
    }
  }

  /// Looks at the posts of all machines.
  func reconsiderAll() async throws {
    var last: PublicID?
    repeat {
      let posts = try await database.run { [store, last] in try store.postsAwaitingUploads(after: last, $0) }
      for post in posts { try await reconsider(post, isRound: true) }
      last = posts.last
    } while last != nil
  }

  /// Processes a post if all of its uploads are whole; rejects it if one of them is refused, has expired or was deleted.
  ///
  /// - Parameter isRound: whether the post is one of any machine: an upload that is not here may be on another one, as long as an
  ///   upload lives.
  private func reconsider(_ post: PublicID, isRound: Bool) async throws {
    let mayBeElsewhere = isRound && post.seconds + uploadLifetime > Date.now.timeIntervalSince1970
    let (draft, awaited) = try await database.run { [store] session in
      (try store.post(post, for: .unrestricted, session)?.draft, try store.awaitedUploads(of: post, session))
    }
    guard let draft, !awaited.isEmpty else { return }
    do {
      guard
        let (sources, definition) = try await onThread("uploads", { try sources(of: draft, awaited, mayBeElsewhere) })
      else {
        return
      }
      try await database.transaction { [store] session in
        guard try store.process(post, sources: sources, definition: definition, session) else { return }
        try JobQueue.notify(queue: PostJob.queue, session)
      }
      count(draft.kind.rawValue, sources)
    } catch let refusal as MediaRefusal {
      try await reject(post, refusal.reasons)
    } catch let refusal as QuarantineRefusal {
      try await reject(post, refusal.reasons)
    }
    remove(awaited.map(\.upload))
  }

  private func reject(_ post: PublicID, _ reasons: [Reason]) async throws {
    _ = try await database.transaction { [store] session in
      try store.reject(awaiting: post, reasons, session)
    }
  }

  /// Returns the media of a post as assets; nil if an upload is not whole yet.
  private func sources(
    of draft: PostDraft, _ awaited: [AwaitedUpload], _ mayBeElsewhere: Bool
  ) throws -> ([NewAsset], MediaDefinition)? {
    var content: [SubmissionPart: [SealedBlob]] = [:]
    var isWhole = true
    for awaited in awaited {
      guard let part = SubmissionPart(rawValue: awaited.part), let record = try blobs.uploads().record(awaited.upload),
        let file = try blobs.uploads().open(awaited.upload)
      else {
        if mayBeElsewhere { return nil }
        throw MediaRefusal(reasons: [.uploadExpired])
      }
      if let reason = record.refusal { throw MediaRefusal(reasons: [reason]) }
      guard try file.synchronizedState().isWhole else {
        if record.expiresAt <= .now { throw MediaRefusal(reasons: [.uploadExpired]) }
        isWhole = false
        continue
      }
      content[part, default: []].append(try file.sealed(hash: contents.hash(of: awaited.upload)))
    }
    guard isWhole else { return nil }
    return try checked(SubmissionForm.Media(content, of: draft, textField: "caption"))
  }
}
