internal import CMicrohttpd
import Glibc
internal import Platform

/// A running libmicrohttpd daemon with its network threads.
struct Daemon: ~Copyable, @unchecked Sendable {
  private let pointer: OpaquePointer
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
    // libmicrohttpd closes it when it stops.
    _ = listener.release()
    self.reception = retained
  }

  /// Stops the threads and closes every connection.
  deinit {
    // libmicrohttpd aborts the process over a connection that is suspended and was not resumed.
    reception.takeUnretainedValue().answerAll()
    MHD_stop_daemon(pointer)
    reception.release()
  }
}
