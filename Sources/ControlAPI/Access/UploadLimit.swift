internal import HTTPServer
package import Platform

/// How many submissions are taken in at a time, in this process: those beyond are refused before their first byte, so that
/// whoever was let in has room, and his turn at the database, to the end.
package final class UploadLimit: Sendable {
  /// The most at a time, unless told otherwise.
  package static let usual = 512

  private let most: Int
  private let onRefusal: @Sendable (IPAddress) -> Void
  private let running = Locked(0)

  /// - Parameter onRefusal: hears of each refusal; it must not block.
  package init(most: Int = usual, onRefusal: @escaping @Sendable (IPAddress) -> Void = { _ in }) {
    self.most = most
    self.onRefusal = onRefusal
  }

  /// How many are being taken in.
  package var count: Int { running.withLock { $0 } }

  /// Takes one in; throws 503 where there are too many.
  func admit<Result>(_ client: IPAddress, _ body: () async throws -> Result) async throws -> Result {
    let isAdmitted = running.withLock { running in
      guard running < most else { return false }
      running += 1
      return true
    }
    guard isAdmitted else {
      onRefusal(client)
      throw ProblemKind.overloaded.problem(
        "The service takes in \(most) submissions at a time, and has as many.", headers: ["Retry-After": "5"])
    }
    defer { running.withLock { $0 -= 1 } }
    return try await body()
  }
}
