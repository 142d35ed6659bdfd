import Glibc
import Platform

/// A process of a run, with the proxy that is its only connection to the database.
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
  let proxy: Proxy
  /// The path of the ledger.
  let ledger: String
  /// The path of the log.
  let log: String

  init(_ role: Role, name: String, child: ChaosProcess, proxy: Proxy, ledger: String, log: String) {
    self.role = role
    self.name = name
    self.child = child
    self.proxy = proxy
    self.ledger = ledger
    self.log = log
  }

  /// The process id.
  var process: Int32 { child.process }

  /// Stops the process with SIGTERM; nil if it does not end within `limit` and is killed.
  func end(within limit: Duration) async -> ChildProcess.Ending? {
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

/// A slot of a storm: when its participant ends, another one replaces it.
final class ProcessSlot {
  let role: Participant.Role
  let number: Int
  var participant: Participant
  /// The number of participants that the slot has had.
  var generation = 1
  /// Whether a fault of the slot is still in effect.
  var isBusy = false
  /// Whether the storm has ended the participant, and has recorded the fault.
  var isEnding = false
  /// The number of stops of the participant that have been handled.
  var handledStops = 0

  init(_ role: Participant.Role, _ number: Int, _ participant: Participant) {
    self.role = role
    self.number = number
    self.participant = participant
  }
}
