package import HTTPServer
internal import Model
package import Platform
internal import Postgres

/// The limit of something that is in progress at the same time in this process, such as submissions that are received: of all
/// clients together, and of each one. So one client never takes the places of all others.
package final class SharedLimit: Sendable {
  private struct State {
    var count = 0
    var held: [ShareHolder: Int] = [:]
  }

  private enum Refusal {
    case all
    case share(Int)
  }

  private let name: String
  private let max: Int
  private let userShare: Int
  private let refusal: ProblemKind
  private let seconds: Int
  private let onRefusal: @Sendable (IPAddress) -> Void
  private let state = Locked(State())

  /// - Parameters:
  ///   - name: what is limited, in the singular.
  ///   - max: the limit of all clients together. An API key that acts as no user may serve all users of an app, and has
  ///     half of it.
  ///   - userShare: the share of a user.
  ///   - refusal: the problem of a client that has its share.
  ///   - seconds: the time after which a refused client tries again.
  ///   - onRefusal: called with the address of each refused client; it must not block.
  package init(
    _ name: String, max: Int, userShare: Int, refusal: ProblemKind = .tooManyRequests,
    retryAfter seconds: Int = 5, onRefusal: @escaping @Sendable (IPAddress) -> Void = { _ in }
  ) {
    self.name = name
    self.max = max
    self.userShare = userShare
    self.refusal = refusal
    self.seconds = seconds
    self.onRefusal = onRefusal
  }

  /// The number of what is in progress.
  package var count: Int { state.withLock(\.count) }

  /// Runs `body` in a place of the client; throws a problem if the client has its share (429), or if all places are taken (503).
  package func admit<Result>(_ request: Request, _ body: () async throws -> Result) async throws -> Result {
    let holder = request.shareHolder
    do throws(Problem) {
      try take(holder)
    } catch {
      onRefusal(request.client)
      throw error
    }
    defer { leave(holder) }
    return try await body()
  }

  /// Takes a place until `leave`; throws the same problems.
  package func take(_ holder: ShareHolder) throws(Problem) {
    let refusal: Refusal? = state.withLock { state in
      let (held, share) = (state.held[holder, default: 0], share(of: holder))
      guard held < share else { return .share(share) }
      guard state.count < max else { return .all }
      state.count += 1
      state.held[holder] = held + 1
      return nil
    }
    let headers: HeaderFields = ["Retry-After": "\(seconds)"]
    switch refusal {
    case nil: return
    case .share(let share):
      throw self.refusal.problem("\(holder.name) has \(CountText.text(share, name)).", headers: headers)
    case .all:
      throw ProblemKind.overloaded.problem("The limit of \(CountText.text(max, name)) is reached.", headers: headers)
    }
  }

  package func leave(_ holder: ShareHolder) {
    state.withLock { state in
      guard let held = state.held[holder] else { return }
      state.count -= 1
      state.held[holder] = held > 1 ? held - 1 : nil
    }
  }

  private func share(of holder: ShareHolder) -> Int {
    switch holder {
    case .user: userShare
    case .key, .address: Swift.max(1, max / 2)
    }
  }
}

extension ShareHolder {
  /// For people.
  package var name: String {
    switch self {
    case .user: "The user"
    case .key: "The API key"
    case .address: "The address"
    }
  }

  /// The same client, for connections to the database.
  var poolClient: PoolClient {
    let isKey = if case .key = self { true } else { false }
    return PoolClient("\(self)", isShared: isKey)
  }
}

extension Request {
  /// The client whose share takes what the request begins. A service that needs no key believes a request the user that it names, while
  /// the request itself counts for the address, before the user is known.
  package var shareHolder: ShareHolder {
    caller.user.map(ShareHolder.user(id:)) ?? caller.shareHolder ?? .address(client.site)
  }
}
