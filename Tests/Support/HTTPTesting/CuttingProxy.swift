import Glibc
import Platform

/// A TCP proxy in front of a service that cuts its connections after certain numbers of bytes, and counts what clients send.
package final class CuttingProxy: Sendable {
  private struct State {
    var upstream: UInt16
    var cuts: ArraySlice<Int>
    var forwarded = 0
    var isHeld = false
    /// The text of a response that is not forwarded.
    var lost: String?
  }

  private let relay: Relay
  private let state: Locked<State>
  private let held = OneShot<Void>()
  private let holdsAtLast: Bool

  /// Listens on a free port.
  ///
  /// - Parameters:
  ///   - service: the port of the service.
  ///   - cuts: the numbers of bytes from clients after which all connections are cut, in order.
  ///   - holdsAtLast: whether the proxy refuses connections after the last cut, until `release`.
  ///   - lost: a text of the response that is cut off instead of forwarded, once.
  package init(before service: UInt16, cuts: [Int] = [], holdsAtLast: Bool = false, losing lost: String? = nil) throws {
    state = Locked(State(upstream: service, cuts: cuts[...], lost: lost))
    self.holdsAtLast = holdsAtLast
    relay = try Relay()
    relay.limitRoom(to: 32 << 10)
    try relay.start(
      requests: { [self] in take(upTo: $0.count) }, responses: { [self] in loses($0) ? 0 : $0.count },
      connect: { [self] in connection() })
  }

  /// The port on 127.0.0.1.
  package var port: UInt16 { relay.port }

  /// The URL for clients.
  package var url: String { "http://127.0.0.1:\(port)" }

  /// The number of bytes from clients that were forwarded.
  package var forwarded: Int { state.withLock { $0.forwarded } }

  /// The number of cuts and lost responses that were not reached.
  package var remainingCuts: Int { state.withLock { $0.cuts.count + ($0.lost == nil ? 0 : 1) } }

  /// Waits for the last cut of a proxy that then refuses connections.
  package func untilHeld() async { await held.value }

  /// Accepts connections again, for a service on another port.
  package func release(before service: UInt16) {
    state.withLock { state in
      state.upstream = service
      state.isHeld = false
    }
  }

  /// Refuses further connections, and ends those that are open.
  package func stop() { relay.stop() }

  /// Counts bytes of a client; fewer than `count` if a cut comes before the last.
  private func take(upTo count: Int) -> Int {
    let (taken, isLast) = state.withLock { state in
      guard let cut = state.cuts.first, state.forwarded + count > cut else {
        state.forwarded += count
        return (count, false)
      }
      state.cuts.removeFirst()
      let taken = cut - state.forwarded
      state.forwarded = cut
      let isLast = state.cuts.isEmpty && holdsAtLast
      if isLast { state.isHeld = true }
      return (taken, isLast)
    }
    if isLast { held.fulfil(()) }
    return taken
  }

  /// Whether a response is the one that is lost.
  private func loses(_ response: ArraySlice<UInt8>) -> Bool {
    state.withLock { state in
      guard let lost = state.lost, response.firstRange(of: Array(lost.utf8)) != nil else { return false }
      state.lost = nil
      return true
    }
  }

  private func connection() -> Descriptor? {
    let (upstream, isHeld) = state.withLock { ($0.upstream, $0.isHeld) }
    let service = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    guard !isHeld, LocalSocket.connect(service.number, to: upstream) else { return nil }
    return service
  }
}
