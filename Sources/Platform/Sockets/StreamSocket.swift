internal import CSystem
import Glibc

/// One end of a non-blocking TCP connection.
package struct StreamSocket: ~Copyable, Sendable {
  /// The result of a call.
  package enum Outcome: Hashable, Sendable {
    /// The number of bytes transferred.
    case moved(Int)
    /// The peer has finished sending; for a file, the file is shorter than expected.
    case finished
    /// The call would block.
    case wouldBlock
    /// The connection is closed.
    case broken
  }

  private let descriptor: Descriptor
  /// The address of the peer.
  package let peer: IPAddress

  private init(_ descriptor: consuming Descriptor, peer: IPAddress) {
    self.descriptor = descriptor
    self.peer = peer
  }

  /// The descriptor, valid as long as this value exists.
  package var number: Int32 { descriptor.number }

  /// Accepts a connection; nil if none is pending.
  package static func accept(from listener: borrowing Descriptor) throws(SystemError) -> StreamSocket? {
    var address = IPAddress.Bytes(repeating: 0)
    while true {
      let number = withUnsafeMutableBytes(of: &address) {
        csystem_accept(listener.number, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
      }
      if number >= 0 { return StreamSocket(Descriptor(owning: number), peer: IPAddress(bytes: address)) }
      switch errno {
      case EAGAIN: return nil
      // Errors of a pending connection are not errors of the listener (accept(2)).
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH: continue
      default: throw SystemError(call: "accept")
      }
    }
  }

  /// Receives bytes.
  package borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    Self.outcome { recv(number, buffer.baseAddress, buffer.count, 0) }
  }

  /// Bounds the bytes that the system receives ahead of `receive(into:)`; nil: the system decides, by the speed of the connection.
  package borrowing func boundReceiving(to bytes: Int?) { csystem_bound_receiving(number, Int32(bytes ?? 0)) }

  /// Discards received bytes without copying them (tcp(7), MSG_TRUNC).
  package borrowing func discard(_ maxBytes: Int) -> Outcome {
    Self.outcome { recv(number, nil, maxBytes, Int32(MSG_TRUNC)) }
  }

  /// Sends bytes.
  ///
  /// - Parameter isFollowed: whether the caller sends more immediately, so that both may share a packet.
  package borrowing func send(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool) -> Outcome {
    let flags = Int32(MSG_NOSIGNAL) | (isFollowed ? Int32(MSG_MORE) : 0)
    return Self.outcome { Glibc.send(number, bytes.baseAddress, bytes.count, flags) }
  }

  /// Sends bytes of a file without copying them through this process.
  package borrowing func send(file: borrowing Descriptor, from offset: Int64, count: Int) -> Outcome {
    Self.outcome { csystem_send_file(number, file.number, offset, count) }
  }

  /// The number of sent bytes that the peer has not acknowledged.
  package var unread: Int { Int(csystem_unread(number)) }

  /// Has the system forget what the peer has not acknowledged when the connection is closed, instead of sending it for minutes.
  package borrowing func forgetUnread() { csystem_reset_unread(number) }

  /// Closes the connection for sending.
  package borrowing func finishSending() { shutdown(number, Int32(SHUT_WR)) }

  private static func outcome(_ call: () -> Int) -> Outcome {
    while true {
      let count = call()
      if count > 0 { return .moved(count) }
      if count == 0 { return .finished }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .broken
      }
    }
  }
}
