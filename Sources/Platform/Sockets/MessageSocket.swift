internal import CSystem
import Glibc

/// One end of a connection that transfers messages with open descriptors (unix(7), SOCK_SEQPACKET, SCM_RIGHTS).
package struct MessageSocket: ~Copyable, Sendable {
  private let descriptor: Descriptor

  /// The maximum size of a message, which fits into Linux's default socket buffer.
  package static let maxBytes = 160 << 10
  /// The maximum number of descriptors in a message.
  package static let maxDescriptors = 32

  /// Takes ownership of a connected SOCK_SEQPACKET socket.
  package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// The descriptor, to wait for or to pass to a child.
  package var number: Int32 { descriptor.number }

  /// Creates two connected ends.
  package static func pair() throws(SystemError) -> Pair {
    var numbers: [Int32] = [-1, -1]
    guard csystem_socket_pair(&numbers) == 0 else { throw SystemError(call: "socketpair") }
    return Pair(
      near: MessageSocket(Descriptor(owning: numbers[0])), far: MessageSocket(Descriptor(owning: numbers[1])))
  }

  /// Two connected ends: one for this process, one for a child.
  package struct Pair: ~Copyable {
    package let near: MessageSocket
    package let far: MessageSocket

    /// Returns the near end and closes the far one, of which a child has a copy.
    package consuming func keepNear() -> MessageSocket { near }
  }

  /// Sends a message; the receiver gets copies of the descriptors.
  package borrowing func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(SystemError) {
    let status = csystem_send(descriptor.number, bytes, bytes.count, descriptors, Int32(descriptors.count))
    guard status == 0 else { throw SystemError(call: "sendmsg") }
  }

  /// A received message.
  package struct Message: Sendable {
    package let bytes: [UInt8]
    /// The receiver owns the descriptors: wrap each in a `Descriptor`.
    package let descriptors: [Int32]
  }

  /// Waits for a message; nil if the other end is closed.
  package borrowing func receive() throws(SystemError) -> Message? {
    var bytes = [UInt8](repeating: 0, count: Self.maxBytes)
    var descriptors = [Int32](repeating: -1, count: Self.maxDescriptors)
    var count = Int32(descriptors.count)
    let received = csystem_receive(descriptor.number, &bytes, bytes.count, &descriptors, &count)
    // A peer that dies with unread data resets the connection, which is treated as its end.
    if received == 0 || (received < 0 && errno == ECONNRESET) { return nil }
    guard received > 0 else { throw SystemError(call: "recvmsg") }
    return Message(bytes: Array(bytes.prefix(received)), descriptors: Array(descriptors.prefix(Int(count))))
  }

  /// Ends the messages of this end; the other end can still send.
  package borrowing func endSending() { shutdown(descriptor.number, Int32(SHUT_WR)) }

  /// Waits until a message or the end can be received; false if `milliseconds` pass first.
  package borrowing func waitReadable(milliseconds: Int32) throws(SystemError) -> Bool {
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    while true {
      let ready = poll(&request, 1, milliseconds)
      if ready >= 0 { return ready > 0 }
      if errno != EINTR { throw SystemError(call: "poll") }
    }
  }
}
