import Glibc
internal import Platform

/// Sockets whose answer went out before the client had sent its whole body.
///
/// Closed at once, the kernel would reset them for their unread bytes, and the reset can overtake the answer. So
/// each stays open a while longer, its input thrown away (RFC 9112 section 9.6).
final class LingeringSockets: Sendable {
  private struct Lingerer {
    let socket: Int32
    let deadline: ContinuousClock.Instant
  }

  /// In bytes, of one socket at one time, so that no sender holds the others up.
  private static let mostDiscarded = 4 << 20

  private let lingerers = Locked<[Lingerer]>([])

  /// Takes a socket over: it is closed when the client closes, or at the deadline.
  func add(_ socket: Int32, until deadline: ContinuousClock.Instant) {
    shutdown(socket, Int32(SHUT_WR))
    lingerers.withLock { $0.append(Lingerer(socket: socket, deadline: deadline)) }
  }

  /// Throws away what has come; returns whether any socket is left.
  func drain(at now: ContinuousClock.Instant) -> Bool {
    lingerers.withLock { lingerers in
      lingerers = lingerers.filter { lingerer in
        if lingerer.deadline > now, Self.discard(from: lingerer.socket) { return true }
        close(lingerer.socket)
        return false
      }
      return !lingerers.isEmpty
    }
  }

  /// Closes all.
  func closeAll() {
    lingerers.withLock { lingerers in
      for lingerer in lingerers { close(lingerer.socket) }
      lingerers = []
    }
  }

  /// Whether the client may still send.
  private static func discard(from socket: Int32) -> Bool {
    var discarded = 0
    while discarded < mostDiscarded {
      // With MSG_TRUNC a TCP socket throws bytes away without copying them (tcp(7)).
      let count = recv(socket, nil, 1 << 20, Int32(MSG_TRUNC | MSG_DONTWAIT))
      if count == 0 { return false }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      discarded += count
    }
    return true
  }
}
