internal import Platform

/// Why a connection or a request was turned away before anybody looked at what it wants.
package enum Refusal: String, Sendable, CaseIterable {
  /// The server has as many connections as it may.
  case connections
  /// The client's address has as many connections, or requests under way, as one may.
  case address
  /// As many answers as may are being produced over time.
  case streams
}

/// How many connections, requests and streams there are, and how many there may be.
struct ConnectionLimits: Sendable {
  private let maxConnections: Int
  private let maxPerAddress: Int
  private let maxStreams: Int

  private(set) var connections = 0
  private(set) var streams = 0
  private var byAddress: [IPAddress: Int] = [:]

  init(connections: Int, perAddress: Int, streams: Int) {
    maxConnections = connections
    maxPerAddress = perAddress
    maxStreams = streams
  }

  /// Counts a connection; false, and it is not counted, where there are as many as may be.
  mutating func open() -> Bool {
    guard connections < maxConnections else { return false }
    connections += 1
    return true
  }

  mutating func close() { connections -= 1 }

  /// Counts something that an address does; false if it does as much as it may, which is not counted.
  mutating func begin(from address: IPAddress) -> Bool {
    let count = byAddress[address.site, default: 0]
    guard count < maxPerAddress else { return false }
    byAddress[address.site] = count + 1
    return true
  }

  mutating func end(from address: IPAddress) {
    guard let count = byAddress[address.site] else { return }
    byAddress[address.site] = count > 1 ? count - 1 : nil
  }

  mutating func openStream() -> Bool {
    guard streams < maxStreams else { return false }
    streams += 1
    return true
  }

  mutating func closeStream() { streams -= 1 }
}
