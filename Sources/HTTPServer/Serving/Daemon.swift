internal import CMicrohttpd
import Glibc
internal import Platform
import Synchronization

/// A running libmicrohttpd daemon with its network threads.
struct Daemon: ~Copyable, @unchecked Sendable {
  private let pointer: OpaquePointer
  /// The listening socket, which libmicrohttpd closes when it stops unless it was quiesced.
  private let listener: Int32
  private let isQuiesced = Atomic(false)
  private let reception: Unmanaged<Reception>

  init(listener: consuming Descriptor, reception: Reception) throws(ServerError) {
    let configuration = reception.configuration
    let retained = Unmanaged.passRetained(reception)
    var daemon = cmicrohttpd_configuration()
    daemon.listening_socket = listener.number
    daemon.threads = UInt32(configuration.networkThreads)
    daemon.most_connections = UInt32(configuration.mostConnections)
    daemon.most_connections_per_address = UInt32(configuration.mostConnectionsPerAddress)
    daemon.inactivity_seconds = UInt32(max(1, configuration.inactivity.components.seconds))
    daemon.memory_per_connection = configuration.memoryPerConnection
    daemon.context = retained.toOpaque()
    daemon.on_target = onTarget
    daemon.on_request = onRequest
    daemon.on_completion = onCompletion
    daemon.on_connection = onConnection
    guard let pointer = cmicrohttpd_start(&daemon) else {
      retained.release()
      throw .cannotStart
    }
    self.pointer = pointer
    self.listener = listener.release()
    self.reception = retained
  }

  /// Accepts no further connection; a client that tries is refused by the kernel.
  borrowing func quiesce() {
    guard !isQuiesced.exchange(true, ordering: .acquiringAndReleasing) else { return }
    MHD_quiesce_daemon(pointer)
    shutdown(listener, Int32(SHUT_RD))
  }

  /// Stops the threads and closes every connection.
  deinit {
    // Not quiesced here: libmicrohttpd 0.9.75 may abort when one of its threads is just then accepting a connection.
    // libmicrohttpd aborts the process over a connection that is suspended and was not resumed.
    reception.takeUnretainedValue().answerAll()
    MHD_stop_daemon(pointer)
    reception.release()
    // Only now: until then its threads may still name it.
    if isQuiesced.load(ordering: .acquiring) { close(listener) }
  }
}
