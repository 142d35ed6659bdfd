internal import Crypto
internal import HTTPServer
internal import Kit
package import Platform

/// Hashes and compares passwords on threads of its own, few at a time: each takes a core for some 30 ms and 19 MiB. They give way
/// to whatever else wants the core, so that the sign-ins of some clients delay the requests of the others by little. What finds no thread
/// waits in line: who is refused would come again later, behind those who came first after it.
package final class PasswordWork: Sendable {
  /// Half of the processors, for the reads beside a rush of registrations: with a thread on each of two, the slowest of a hundred reads took
  /// four times as long, although the threads give way (a server of PostgreSQL is in a scheduling group of its own, where nice values of
  /// others do not count).
  static let threads = Swift.min(2, Swift.max(1, ThisProcess.processors / 2))
  /// The time within which the last in line is done on an idle machine, in seconds.
  static let lineSeconds = 30.0
  /// The part of the line that one address may have.
  static let addressPart = 10

  /// The line, by the network of the clients.
  private struct Line {
    var count = 0
    var ofAddress: [IPAddress: Int] = [:]
  }

  /// The maximum number of passwords in work.
  private let max: Int
  /// The time of one, in seconds.
  private let time: Double
  private let executor: ThreadExecutor
  private let line = Locked(Line())

  /// The number of passwords that are hashed or compared, or wait for it.
  package var count: Int { line.withLock { $0.count } }

  /// The hash of a password that no one knows. A sign-in with a name that does not exist compares with it, and takes as
  /// long as any other.
  private let decoy: PasswordHash

  /// - Parameter max: the number of passwords in work above which a further one is refused; nil: as many as the machine hashes in the time
  ///   of the line.
  package init(max: Int? = nil) throws(SystemError) {
    executor = try ThreadExecutor(name: "password", threads: Self.threads)
    // By the thread's clock: a machine that is busy at the start would have a short line until the service ends.
    // The first hash of a process takes its memory, and twice the time.
    _ = PasswordHash(of: Kit.newSecret(""))
    let start = ThisThread.processorTime
    decoy = PasswordHash(of: Kit.newSecret(""))
    time = Swift.max(0.001, (ThisThread.processorTime - start) / .seconds(1)) / Double(Self.threads)
    self.max = max ?? Swift.max(Self.addressPart * Self.threads, Int(exactly: (Self.lineSeconds / time).rounded()) ?? 0)
  }

  deinit { executor.stop() }

  /// Throws a problem with status 404 if the service has no accounts.
  static func enabled(_ passwords: PasswordWork?) throws(Problem) -> PasswordWork {
    guard let passwords else { throw ProblemKind.accountsOff.problem("The service was started without accounts.") }
    return passwords
  }

  /// Hashes a password that a user chooses; throws a problem with status 400 if it is one that everybody tries, and one with status 503 or
  /// 429 if too many wait, or too many of the client's address.
  func hash(_ password: String, for client: IPAddress) async throws(Problem) -> PasswordHash {
    let hash = try await run(for: client) { PasswordStrength.isCommon(password) ? nil : PasswordHash(of: password) }
    guard let hash else { throw Self.common }
    return hash
  }

  /// Throws the same problems without hashing the password.
  func check(_ password: String, for client: IPAddress) async throws(Problem) {
    guard try await run(for: client, { !PasswordStrength.isCommon(password) }) else { throw Self.common }
  }

  private static var common: Problem {
    ProblemKind.invalid([
      FieldError("password", "is among the passwords that attackers try first: choose one that few others have")
    ])
  }

  /// Whether a password is the hashed one; false after the same time if there is no hash. Throws a problem with status 503 or 429 as `hash`
  /// does.
  func isRight(_ password: String, _ hash: PasswordHash?, for client: IPAddress) async throws(Problem) -> Bool {
    let compared = hash ?? decoy
    let isEqual = try await run(for: client) { compared.isOf(password) }
    return isEqual && hash != nil
  }

  func run<Value: Sendable>(
    for client: IPAddress, _ work: @escaping @Sendable () -> Value
  ) async throws(Problem) -> Value {
    let address = client.site
    let refusal: Problem? = line.withLock { line in
      let own = line.ofAddress[address, default: 0]
      guard line.count < max else {
        return ProblemKind.overloaded.problem(
          "Too many clients sign in at the same time.", headers: ["Retry-After": seconds(for: line.count)])
      }
      guard own < Swift.max(1, max / Self.addressPart) else {
        return ProblemKind.tooManyRequests.problem(
          "Too many clients of this address sign in at the same time.", headers: ["Retry-After": seconds(for: own)])
      }
      line.count += 1
      line.ofAddress[address] = own + 1
      return nil
    }
    if let refusal { throw refusal }
    defer {
      line.withLock { line in
        line.count -= 1
        let own = line.ofAddress[address, default: 1]
        line.ofAddress[address] = own > 1 ? own - 1 : nil
      }
    }
    let isGone = CancellationFlag()
    let value = await withTaskCancellationHandler {
      await Task(executorPreference: executor) { isGone.isCancelled ? nil : givingWay("password", work) }.value
    } onCancel: {
      isGone.cancel()
    }
    // The client has closed its connection while it waited: the others need not wait for its password.
    guard let value else { throw ProblemKind.overloaded.problem("The client has left the line.") }
    return value
  }

  /// The time that as many take, in whole seconds.
  private func seconds(for count: Int) -> String {
    "\(Duration.seconds(min(60, Double(count) * time)).components.seconds + 1)"
  }
}
