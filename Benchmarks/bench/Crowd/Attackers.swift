import Glibc
internal import HTTPTesting
internal import Platform

/// The threads of an attack; they end with `stop`.
final class Attackers: Sendable {
  private let attack: Attack
  private let port: UInt16
  /// The request before and after the number, which is another one in each; nil: it has none.
  private let request: (before: [UInt8], after: [UInt8]?)
  private let isStopped = CancellationFlag()
  private let running = Locked(0)

  /// - Parameter job: a job of the attacker that does not end; nil: the attack needs none.
  init(_ attack: Attack, port: UInt16, token: String, job: String?) {
    self.attack = attack
    self.port = port
    // Looked for once: the processors belong to the service.
    let text = attack.request(token, job: job)
    let parts = text.split(separator: "########", maxSplits: 1, omittingEmptySubsequences: false)
    request = (Array(parts[0].utf8), parts.count > 1 ? Array(parts[1].utf8) : nil)
  }

  /// Starts the threads; those that hold connections have opened all of them once before it returns.
  func start() throws {
    switch attack.form {
    case .holding(let count):
      let held = Locked(0)
      for address in attack.addresses {
        try run {
          var connections = (0..<count).map { _ in self.opened(from: address) }
          held.withLock { $0 += 1 }
          while !self.isStopped.isCancelled {
            for index in connections.indices where connections[index]?.isEnded != false {
              connections[index] = self.opened(from: address)
            }
            usleep(200_000)
          }
        }
      }
      while held.withLock({ $0 }) < attack.addresses.count { usleep(100_000) }
    case .asking(let threads):
      for first in 0..<threads {
        try run {
          var index = first
          while !self.isStopped.isCancelled {
            self.ask(from: self.attack.addresses[index % self.attack.addresses.count])
            index += threads
          }
        }
      }
    }
  }

  /// Ends the threads and waits for them.
  func stop() {
    isStopped.cancel()
    while running.withLock({ $0 }) > 0 { usleep(50_000) }
  }

  private func run(_ body: @escaping @Sendable () -> Void) throws {
    running.withLock { $0 += 1 }
    try NamedThread(name: "attacker") {
      body()
      self.running.withLock { $0 -= 1 }
    }.detach()
  }

  private func opened(from address: String) -> HeldConnection? {
    guard !isStopped.isCancelled, let held = try? HeldConnection(port: port, from: address) else { return nil }
    let number = request.after.map { Array("\(Int.random(in: 10_000_000..<100_000_000))".utf8) + $0 }
    try? held.connection.send(request.before + (number ?? []))
    switch attack.received {
    case .nothing: break
    case .head: _ = try? held.connection.receiveHead()
    case .response: _ = try? held.connection.receive()
    }
    return held
  }

  /// Sends a request, and waits until the response comes, which it does not read: the processors belong to the service.
  private func ask(from address: String) {
    guard let held = opened(from: address) else { return }
    while !isStopped.isCancelled, !held.connection.isReadable(within: 200) {}
  }
}

/// A connection as a reference, because an array cannot hold noncopyable values.
final class HeldConnection {
  var connection: ClientConnection
  /// Whether the server has answered or closed it.
  var isEnded: Bool { connection.isReadable(within: 0) }

  init(port: UInt16, from address: String) throws { connection = try ClientConnection(port: port, from: address) }
}
