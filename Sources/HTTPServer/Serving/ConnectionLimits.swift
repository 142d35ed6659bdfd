internal import Platform

/// The numbers of connections, of their shares and of streams, with their limits.
///
/// A connection counts for its address, and during an authenticated request for the credential. That of a trusted proxy counts for
/// no address, but its requests for their clients.
struct ConnectionLimits: Sendable {
  private let maxConnections: Int
  private let maxStreams: Int
  private let maxPerAddress: Int
  private let maxPerKey: Int
  private let maxPerUser: Int
  private let maxInputBytes: Int
  private let maxOutputBytes: Int
  private let maxOutputBytesPerKey: Int

  private(set) var connections = 0
  private(set) var streams = 0
  private var shares: [ShareHolder: Int] = [:]
  /// The received bytes that no request has taken yet, by the address.
  private var inputBytes: [ShareHolder: Int] = [:]
  /// The bytes of responses that wait for their client to read.
  private var outputBytes: [ShareHolder: Int] = [:]

  /// - Parameter connections: the maximum number of connections.
  init(_ configuration: ServerConfiguration, connections: Int) {
    maxConnections = connections
    maxStreams = configuration.maxStreams
    maxPerAddress = configuration.maxPerAddress
    maxPerKey = configuration.maxPerKey
    maxPerUser = configuration.maxPerUser
    maxInputBytes = configuration.inputBytesPerAddress
    maxOutputBytes = configuration.outputBytes
    maxOutputBytesPerKey = configuration.outputBytesPerKey
  }

  /// Counts a connection; false, without counting it, at the limit.
  mutating func open() -> Bool {
    guard connections < maxConnections else { return false }
    connections += 1
    return true
  }

  mutating func close() { connections -= 1 }

  /// Counts a connection or a request for a share; false, without counting it, at the limit.
  mutating func begin(_ holder: ShareHolder) -> Bool {
    guard excess(of: holder) < 1 else { return false }
    resume(holder)
    return true
  }

  /// Counts a connection for its address again, also beyond the limit.
  mutating func resume(_ holder: ShareHolder) { shares[holder, default: 0] += 1 }

  mutating func end(_ holder: ShareHolder) {
    guard let count = shares[holder] else { return }
    shares[holder] = count > 1 ? count - 1 : nil
  }

  /// What counts for a share.
  func count(of holder: ShareHolder) -> Int { shares[holder, default: 0] }

  /// How many must end before a share has room for one more; zero or less: it has.
  func excess(of holder: ShareHolder) -> Int {
    let most =
      switch holder {
      case .address: maxPerAddress
      case .key: maxPerKey
      case .user: maxPerUser
      }
    return count(of: holder) - most + 1
  }

  /// Counts bytes of input, or fewer with a negative number; false, without counting them, beyond the limit.
  mutating func countInput(_ bytes: Int, of holder: ShareHolder) -> Bool {
    let count = inputBytes[holder, default: 0] + bytes
    guard bytes < 0 || count <= maxInputBytes else { return false }
    inputBytes[holder] = count > 0 ? count : nil
    return true
  }

  /// The same for bytes of responses.
  mutating func countOutput(_ bytes: Int, of holder: ShareHolder) -> Bool {
    let count = outputBytes[holder, default: 0] + bytes
    let most = if case .key = holder { maxOutputBytesPerKey } else { maxOutputBytes }
    guard bytes < 0 || count <= most else { return false }
    outputBytes[holder] = count > 0 ? count : nil
    return true
  }

  mutating func openStream() -> Bool {
    guard streams < maxStreams else { return false }
    streams += 1
    return true
  }

  mutating func closeStream() { streams -= 1 }
}
