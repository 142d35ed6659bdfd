import Glibc
package import Platform

/// A process of a run, and the proxy through which alone it reaches the database.
package final class Member: Sendable {
  package enum Role: String, Sendable, Hashable {
    case worker
    case producer
    case service
    /// Somebody's command line.
    case command
  }

  package let role: Role
  /// What it is called in reports, and by the database.
  package let name: String
  package let child: ChaosProcess
  package let proxy: Proxy
  /// The path of its ledger.
  package let ledger: String
  /// The path of what it says.
  package let log: String

  init(_ role: Role, name: String, child: ChaosProcess, proxy: Proxy, ledger: String, log: String) {
    self.role = role
    self.name = name
    self.child = child
    self.proxy = proxy
    self.ledger = ledger
    self.log = log
  }

  /// Its process id.
  package var process: Int32 { child.process }

  /// Asks it to end; nil if it does not within `limit`, and is killed.
  package func end(within limit: Duration) async -> ChildProcess.Ending? {
    proxy.release()
    child.kill(SIGCONT)
    child.kill(SIGTERM)
    let ending = await child.end(within: limit)
    if ending == nil {
      child.kill(SIGKILL)
      _ = await child.end(within: limit)
    }
    proxy.stop()
    return ending
  }
}
