import Glibc
import Platform

/// A process of a run, with the proxy that is its only connection to the database, if it has none of its own.
final class Participant: Sendable {
  enum Role: String, Sendable, Hashable {
    case worker
    case producer
    case service
    /// A command of an operator.
    case command
  }

  let role: Role
  /// The name in reports, which is also the application name of its database connections.
  let name: String
  let child: ChaosProcess
  let proxy: Proxy?
  /// The path of the ledger.
  let ledger: String

  init(_ role: Role, name: String, child: ChaosProcess, proxy: Proxy? = nil, ledger: String = "") {
    self.role = role
    self.name = name
    self.child = child
    self.proxy = proxy
    self.ledger = ledger
  }

  /// The process id.
  var process: Int32 { child.process }

  /// Stops the process with SIGTERM; nil if it does not end within `limit` and is killed.
  func end(within limit: Duration) async -> ChildProcess.Ending? {
    proxy?.release()
    child.kill(SIGCONT)
    child.kill(SIGTERM)
    let ending = await child.end(within: limit)
    if ending == nil {
      child.kill(SIGKILL)
      _ = await child.end(within: limit)
    }
    proxy?.stop()
    return ending
  }
}
