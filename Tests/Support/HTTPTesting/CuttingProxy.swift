import Glibc
import Platform

/// A TCP proxy in front of a service that cuts its connections after certain numbers of bytes, and counts what clients send.
package final class CuttingProxy: Sendable {
  private struct State {
    var upstream: UInt16
    var cuts: ArraySlice<Int>
    var forwarded = 0
    var links: [Link] = []
    var isHeld = false
    /// The text of a response that is not forwarded.
    var lost: String?
  }

  /// The connections of one client to the proxy and of the proxy to the service.
  private final class Link: Sendable {
    let client: Descriptor
    let service: Descriptor

    init(_ client: consuming Descriptor, _ service: consuming Descriptor) {
      self.client = client
      self.service = service
    }

    /// Resets the connection of the client (connect(2), AF_UNSPEC), and ends that of the service, which still receives the
    /// bytes that were forwarded.
    func cut() {
      var nowhere = sockaddr()
      nowhere.sa_family = sa_family_t(AF_UNSPEC)
      connect(client.number, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
      shutdown(service.number, Int32(SHUT_WR))
    }
  }

  /// The port on 127.0.0.1.
  package let port: UInt16
  private let listener: Descriptor
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
    listener = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    // A small buffer, so that what the client counts as sent has nearly arrived; accepted sockets inherit it.
    var room: Int32 = 32 << 10
    setsockopt(listener.number, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    var address = Self.address(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = listener.number
    let status = Self.withAddress(&address) { pointer in
      guard bind(number, pointer, length) == 0, listen(number, 16) == 0 else { return Int32(-1) }
      return getsockname(number, pointer, &length)
    }
    guard status == 0 else { throw SystemError(call: "listen") }
    port = UInt16(bigEndian: address.sin_port)
    try NamedThread(name: "cutting-proxy") { [self] in acceptAll() }.detach()
  }

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
  package func stop() {
    shutdown(listener.number, Int32(SHUT_RDWR))
    state.withLock { $0.links }.forEach { $0.cut() }
  }

  private func acceptAll() {
    while true {
      let number = accept(listener.number, nil, nil)
      guard number >= 0 else { return }
      let client = Descriptor(owning: number)
      let (upstream, isHeld) = state.withLock { ($0.upstream, $0.isHeld) }
      guard !isHeld, let service = Self.connection(to: upstream) else { continue }
      let link = Link(client, service)
      state.withLock { $0.links.append(link) }
      try? NamedThread(name: "proxy-requests") { [self] in
        forward(link.client.number, link.service.number) { take(upTo: $0.count) }
        link.cut()
      }.detach()
      try? NamedThread(name: "proxy-responses") { [self] in
        forward(link.service.number, link.client.number) { loses($0) ? 0 : $0.count }
        link.cut()
      }.detach()
    }
  }

  /// Copies bytes until a connection ends.
  ///
  /// - Parameter take: returns how many of the bytes that have arrived are forwarded; the rest is lost.
  private func forward(_ source: Int32, _ target: Int32, take: (ArraySlice<UInt8>) -> Int) {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = recv(source, &chunk, chunk.count, 0)
      guard count > 0 else { return }
      let taken = take(chunk[..<count])
      var sent = 0
      while sent < taken {
        let part = chunk.withUnsafeBytes { send(target, $0.baseAddress! + sent, taken - sent, Int32(MSG_NOSIGNAL)) }
        guard part > 0 else { return }
        sent += part
      }
      guard taken == count else { return }
    }
  }

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

  private static func connection(to port: UInt16) -> Descriptor? {
    let service = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = address(port: port)
    let number = service.number
    let status = withAddress(&address) { connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    guard status == 0 else { return nil }
    return service
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
  ) -> Int32 {
    withUnsafeMutableBytes(of: &address) { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self)) }
  }
}
