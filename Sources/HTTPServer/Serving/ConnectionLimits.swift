internal import Platform

/// The limit that refused a connection, a request or a stream.
package enum Refusal: String, Sendable, CaseIterable {
  /// The maximum number of connections.
  case connections
  /// The maximum number of connections, or concurrent requests, of one address.
  case address
  /// The maximum number of streamed responses.
  case streams
}

/// The numbers of connections, requests and streams, with their limits.
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

  /// Counts a connection; false, without counting it, at the limit.
  mutating func open() -> Bool {
    guard connections < maxConnections else { return false }
    connections += 1
    return true
  }

  mutating func close() { connections -= 1 }

  /// Counts a connection or a request of an address; false, without counting it, at the limit.
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
