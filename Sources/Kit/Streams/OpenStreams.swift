package import HTTPServer
internal import Model
internal import Platform
package import Postgres
internal import Store

/// The open streams of events: limits their number for each user, and ends them with the credentials of their clients.
///
/// A stream is admitted once and lasts for up to an hour. Every two seconds one query looks which of the user tokens are
/// still valid, so that a stream ends like any other use of a credential that is revoked or expires.
package final class OpenStreams: Sendable {
  /// The header fields of their responses.
  // A reverse proxy that buffers responses, as nginx does by default, must not buffer these.
  package static let headers: HeaderFields = [
    "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
  ]

  static let checkInterval = AccessControl.refreshInterval
  /// The maximum number of streams in this process, and the share of a user.
  static let maxStreams = 12_288
  package static let userStreams = 16
  /// The time for which streams of user tokens stay open if the database does not confirm the tokens.
  private static let maxUnconfirmed = Duration.seconds(10)

  private struct Stream {
    let caller: Caller
    let body: BodyStream
  }

  private struct State {
    var streams: [Int: Stream] = [:]
    var next = 0
  }

  private let database: Pool
  private let access: AccessControl
  let limit: SharedLimit
  private let state = Locked(State())

  /// - Parameter share: the maximum number of streams of one user.
  package init(database: Pool, access: AccessControl, share: Int) {
    self.database = database
    self.access = access
    limit = SharedLimit(
      "open stream", max: Self.maxStreams, userShare: share, refusal: .tooManyStreams, retryAfter: 10)
  }

  /// Adds the stream of a client; throws a problem if the client has too many.
  ///
  /// - Returns: a subscription to cancel when the stream has ended.
  package func add(_ body: BodyStream, of request: Request) throws(Problem) -> StreamSubscription {
    let (caller, holder) = (request.caller, request.shareHolder)
    try limit.take(holder)
    let number = state.withLock { state in
      state.next += 1
      state.streams[state.next] = Stream(caller: caller, body: body)
      return state.next
    }
    return StreamSubscription { [weak self] in self?.remove(number, holder) }
  }

  private func remove(_ number: Int, _ holder: ShareHolder) {
    let isRemoved = state.withLock { $0.streams.removeValue(forKey: number) != nil }
    if isRemoved { limit.leave(holder) }
  }

  /// Ends streams whose credentials are no longer valid, until the task is cancelled.
  package func run() async {
    var confirmed = ContinuousClock.now
    while (try? await Task.sleep(for: Self.checkInterval)) != nil {
      let start = ContinuousClock.now
      do {
        try await endInvalid()
        confirmed = start
      } catch {
        guard start - confirmed > Self.maxUnconfirmed else { continue }
        for stream in all where stream.caller.token != nil { stream.body.finish() }
      }
    }
  }

  /// The number of open streams.
  package var count: Int { state.withLock(\.streams.count) }

  private var all: [Stream] { state.withLock { Array($0.streams.values) } }

  /// Ends the streams whose credentials are not valid. Throws if the database does not say which tokens are.
  private func endInvalid() async throws {
    let streams = all
    for stream in streams where !access.isValid(stream.caller) { stream.body.finish() }
    let tokens = Array(Set(streams.compactMap { $0.caller.token?.id }))
    guard !tokens.isEmpty else { return }
    let valid = try await database.run { try Tokens.valid(among: tokens, $0) }
    for stream in streams {
      if let token = stream.caller.token, !valid.contains(token.id) { stream.body.finish() }
    }
  }
}

/// A subscription of a stream to what it sends.
package struct StreamSubscription: Sendable {
  private let onCancel: @Sendable () -> Void

  package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Cancels the subscription. A call of the subscriber that is in progress is not interrupted.
  func cancel() { onCancel() }
}

/// Cancels the subscriptions of a stream when it ends, in whichever order they are added and it ends.
package final class StreamLifetime: Sendable {
  private let state = Locked<(subscriptions: [StreamSubscription], isEnded: Bool)>(([], false))

  package init() {}

  package func attach(_ subscription: StreamSubscription) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.subscriptions.append(subscription) }
      return state.isEnded
    }
    if isEnded { subscription.cancel() }
  }

  package func end() {
    let subscriptions = state.withLock { state in
      defer { state = ([], true) }
      return state.subscriptions
    }
    for subscription in subscriptions { subscription.cancel() }
  }
}
