internal import CSystem
import Glibc

/// One end of a connection that carries whole messages and, with them, open descriptors (unix(7), SCM_RIGHTS).
package struct MessageSocket: ~Copyable, Sendable {
  private let descriptor: Descriptor

  /// The most bytes in one message; Linux's default socket buffer holds it.
  package static let mostBytes = 160 << 10
  /// The most descriptors in one message.
  package static let maxDescriptors = 32

  /// Takes ownership of a connected SOCK_SEQPACKET socket.
  package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// The descriptor, to wait on or to hand to a child.
  package var number: Int32 { descriptor.number }

  /// Two connected ends.
  package static func pair() throws(SystemError) -> Pair {
    var numbers: [Int32] = [-1, -1]
    guard csystem_socket_pair(&numbers) == 0 else { throw SystemError(call: "socketpair") }
    return Pair(
      near: MessageSocket(Descriptor(owning: numbers[0])), far: MessageSocket(Descriptor(owning: numbers[1])))
  }

  /// Two connected ends: one to keep, one to give away.
  package struct Pair: ~Copyable {
    package let near: MessageSocket
    package let far: MessageSocket

    /// Keeps the near end and closes the far one, which a child now holds.
    package consuming func keepNear() -> MessageSocket { near }
  }

  /// Sends one message; the descriptors stay the sender's, the receiver gets copies.
  package borrowing func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(SystemError) {
    let status = csystem_send(descriptor.number, bytes, bytes.count, descriptors, Int32(descriptors.count))
    guard status == 0 else { throw SystemError(call: "sendmsg") }
  }

  /// What came in one message.
  package struct Message: Sendable {
    package let bytes: [UInt8]
    /// The receiver owns them: wrap each in a `Descriptor`.
    package let descriptors: [Int32]
  }

  /// Waits for a message; nil when the other end is closed.
  package borrowing func receive() throws(SystemError) -> Message? {
    var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
    var descriptors = [Int32](repeating: -1, count: Self.maxDescriptors)
    var count = Int32(descriptors.count)
    let received = csystem_receive(descriptor.number, &bytes, bytes.count, &descriptors, &count)
    // A peer that died with unread data resets the connection: that is an end like any other.
    if received == 0 || (received < 0 && errno == ECONNRESET) { return nil }
    guard received > 0 else { throw SystemError(call: "recvmsg") }
    return Message(bytes: Array(bytes.prefix(received)), descriptors: Array(descriptors.prefix(Int(count))))
  }

  /// Waits until a message or the end can be received; false when `milliseconds` pass first.
  package borrowing func waitReadable(milliseconds: Int32) throws(SystemError) -> Bool {
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    while true {
      let ready = poll(&request, 1, milliseconds)
      if ready >= 0 { return ready > 0 }
      if errno != EINTR { throw SystemError(call: "poll") }
    }
  }
}
