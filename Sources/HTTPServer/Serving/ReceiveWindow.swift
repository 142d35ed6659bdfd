internal import Platform

/// How far a connection receives ahead of the handler.
///
/// The start of a body often shows that the rest is refused, and what the system has acknowledged by then was sent in vain. So the start
/// is received in small steps. After it, the window of TCP grows with the speed of the connection, as usual.
struct ReceiveWindow {
  /// The length of the start of a body: the half MiB that shows it, and what may wait for the handler meanwhile.
  private static let startBytes: Int64 = 720 << 10
  /// The bytes that the network thread receives at once meanwhile.
  private static let stepBytes = 32 << 10
  /// The bytes that the system receives ahead of the network thread meanwhile; it doubles the number for what it keeps with them.
  private static let windowBytes = 64 << 10

  /// The bytes that the bound still covers.
  private var rest: Int64 = 0

  /// Begins a request.
  mutating func begin(_ head: RequestHead, on socket: borrowing StreamSocket) {
    let isLong = head.hasBody && head.contentLength.map { $0 > Self.startBytes } ?? true
    if isLong && rest == 0 { socket.boundReceiving(to: Self.windowBytes) }
    if !isLong && rest > 0 { socket.boundReceiving(to: nil) }
    rest = isLong ? Self.startBytes : 0
  }

  /// Counts received bytes.
  mutating func received(_ count: Int, on socket: borrowing StreamSocket) {
    guard rest > 0 else { return }
    rest = max(0, rest - Int64(count))
    if rest == 0 { socket.boundReceiving(to: nil) }
  }

  /// The part of a buffer to receive into.
  func part(of buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    rest > 0 ? UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Self.stepBytes)) : buffer
  }
}
