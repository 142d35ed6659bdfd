internal import Platform

/// An HTTP/1.1 server: libmicrohttpd's threads move the bytes, tasks on threads of their own handle the requests.
///
/// It listens once it is made; `run()` handles requests until `stop(within:)`, or until its task is cancelled.
/// TLS and HTTP/2 are a reverse proxy's work.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: UInt16

  private let reception: Reception
  private let handlers: ThreadExecutor
  private let daemon: Locked<DaemonBox?>

  // A lock holds copyable values only.
  private final class DaemonBox: Sendable {
    let daemon: Daemon
    init(_ daemon: consuming Daemon) { self.daemon = daemon }
  }

  /// Binds and listens; requests wait until `run()`.
  package init(
    configuration: ServerConfiguration = ServerConfiguration(), router: Router,
    observer: ServerObserver = ServerObserver()
  ) throws {
    // A client that goes away while a file is sent to it must not end the process.
    ThisProcess.ignoreBrokenPipes()
    ThisProcess.raiseOpenFilesLimit()
    let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
    port = socket.port
    handlers = try ThreadExecutor(name: "http-handler", threads: configuration.handlerThreads)
    reception = Reception(configuration: configuration, router: router, observer: observer)
    daemon = Locked(DaemonBox(try Daemon(listener: try socket.descriptor.duplicate(), reception: reception)))
  }

  /// Handles requests; returns when the server has stopped and everything it started has ended.
  package func run() async {
    let reception = reception
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.reap() }
        for await arrival in reception.arrivals {
          group.addTask(executorPreference: self.handlers) { await reception.handle(arrival) }
        }
        group.cancelAll()
      }
    } onCancel: {
      reception.finish()
    }
    // Every handler has answered; its answer gets a moment to leave, even when this task is cancelled.
    await Task { await idle(within: .seconds(1)) }.value
    daemon.withLock { $0 = nil }
    reception.lingering.closeAll()
    handlers.stop()
  }

  /// Takes no further request, finishes the streams, lets those under way finish for as long as `drain`, then cancels
  /// their handlers; `run()` returns after that.
  package func stop(within drain: Duration) async {
    // The socket goes on listening, and who still comes is answered with 503: libmicrohttpd 0.9.75 aborts when one of its
    // threads is just then accepting while MHD_quiesce_daemon takes the socket away.
    reception.close()
    await idle(within: drain)
    reception.finish()
  }

  private func idle(within limit: Duration) async {
    let registry = reception.registry
    await withTaskGroup { group in
      group.addTask { await registry.waitUntilIdle() }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Cuts connections past their deadline, keeps streams alive and lets early answers arrive, until cancelled.
  private func reap() async {
    let configuration = reception.configuration
    let shortest = min(configuration.headDeadline, configuration.requestDeadline, configuration.heartbeat)
    let calm = min(.milliseconds(250), shortest / 4)
    var pause = calm
    while (try? await Task.sleep(for: pause)) != nil {
      let now = ContinuousClock.now
      reception.registry.shutDownExpired(at: now)
      for stream in reception.registry.streams { stream.beat(at: now, after: configuration.heartbeat) }
      pause = reception.lingering.drain(at: now) ? min(calm, .milliseconds(20)) : calm
    }
  }
}
