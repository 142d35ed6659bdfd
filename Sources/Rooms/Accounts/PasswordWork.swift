internal import Crypto
internal import HTTPServer
package import Platform

/// Hashes and compares passwords on threads of its own, few at a time: each takes a core for some 30 ms and 19 MiB. They give way
/// to whatever else wants the core, so that the sign-ins of some clients delay the requests of the others by little.
package final class PasswordWork: Sendable {
  static let threads = 2
  /// The maximum number of passwords that are hashed or wait for it. The last one waits for about a second.
  package static let defaultMax = 64

  private let max: Int
  private let executor: ThreadExecutor
  private let count = Locked(0)
  /// The hash of a password that no one knows. A sign-in with a name that does not exist compares with it, and takes as
  /// long as any other.
  private let decoy: PasswordHash

  /// - Parameter max: the number of passwords in work above which a further one is refused.
  package init(max: Int = defaultMax) throws(SystemError) {
    self.max = max
    executor = try ThreadExecutor(name: "password", threads: Self.threads, givesWay: true)
    decoy = PasswordHash(of: Kit.newSecret(""))
  }

  deinit { executor.stop() }

  /// Throws a problem with status 404 if the service has no accounts.
  static func enabled(_ passwords: PasswordWork?) throws(Problem) -> PasswordWork {
    guard let passwords else { throw ProblemKind.accountsOff.problem("The service was started without accounts.") }
    return passwords
  }

  /// Hashes a password that a user chooses; throws a problem with status 400 if it is one that everybody tries, and one with status 503 if
  /// too many wait.
  func hash(_ password: String) async throws(Problem) -> PasswordHash {
    try await check(password)
    return try await run { PasswordHash(of: password) }
  }

  /// Throws the same problems without hashing the password.
  func check(_ password: String) async throws(Problem) {
    guard try await run({ !PasswordStrength.isCommon(password) }) else {
      throw ProblemKind.invalid([
        FieldError("password", "is one of those that are guessed first: choose one that few others have")
      ])
    }
  }

  /// Whether a password is the hashed one; false after the same time if there is no hash. Throws a problem with status
  /// 503 if too many wait.
  func isRight(_ password: String, _ hash: PasswordHash?) async throws(Problem) -> Bool {
    let compared = hash ?? decoy
    let isEqual = try await run { compared.isOf(password) }
    return isEqual && hash != nil
  }

  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(Problem) -> Value {
    let isAdmitted = count.withLock { count in
      guard count < max else { return false }
      count += 1
      return true
    }
    guard isAdmitted else {
      throw ProblemKind.overloaded.problem("Too many clients sign in at the same time.", headers: ["Retry-After": "2"])
    }
    defer { count.withLock { $0 -= 1 } }
    return await Task(executorPreference: executor) { work() }.value
  }
}
