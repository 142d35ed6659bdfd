public import Foundation

/// A submission that is being sent, also when the app ends meanwhile.
///
/// ```swift
/// let upload = try await client.uploads.film(front: front, back: back)
/// for await progress in upload.progress { bar.value = progress.fraction }
/// let look = try await upload.look  // what there is to see within a second
/// let post = try await upload.post  // ready, rejected or failed
/// ```
public struct Upload<Record: Sendable>: Sendable, Identifiable {
  /// The id in the queue.
  public let id: UUID
  let queue: UploadQueue

  /// How far it is: the present state, then each change, until it is sent or has failed.
  public var progress: AsyncStream<UploadProgress> { queue.progress(of: id) }

  /// Waits until everything is sent, and returns the id of the post or the image.
  ///
  /// - Throws: The problem for which the service refuses it, or `cancelled`.
  public var submittedID: String {
    get async throws(Take5Error) {
      for await _ in progress {}
      return try await queue.result(of: id)
    }
  }

  /// Ends it, and removes what the service has of it.
  public func cancel() async { await queue.cancel(id) }
}

extension Upload where Record == Post {
  /// The post once its media are processed: ready, rejected with `reasons`, or failed.
  ///
  /// - Throws: The problem for which the service refuses it before: `mediaRejected`, with `reasons`, if a file shows that while it is sent.
  public var post: Post {
    get async throws(Take5Error) {
      try await Posts(connection: queue.connection).waitUntilReady(try await submittedID)
    }
  }

  /// The post once there is something to see, which only its author sees yet.
  public var look: Post {
    get async throws(Take5Error) { try await Posts(connection: queue.connection).waitForLook(try await submittedID) }
  }
}

extension Upload where Record == ImageRecord {
  /// The image once it is processed: ready, rejected with `reasons`, or failed.
  public var image: ImageRecord {
    get async throws(Take5Error) {
      try await Posts(connection: queue.connection).waitUntilReady(image: try await submittedID)
    }
  }
}

/// A submission in the queue, for a list of unsent ones.
///
/// ```swift
/// for pending in await client.uploads.pending where pending.failure != nil { showRetry(pending) }
/// ```
public struct PendingUpload: Sendable, Identifiable {
  /// The id in the queue.
  public let id: UUID
  /// When it was submitted here.
  public let createdAt: Date
  /// The kind of the post; nil: it is a reaction.
  public let kind: PostKind?
  /// The text of the post.
  public let caption: String?
  /// The post that a reaction is to.
  public let reactionTo: String?
  /// How far it is.
  public let progress: UploadProgress
  /// Why it is not sent any more.
  public let failure: Problem?
}
