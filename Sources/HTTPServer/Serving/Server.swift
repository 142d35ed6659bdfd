internal import Platform

/// An HTTP/1.1 server: threads of its own move the bytes, tasks on further threads handle the requests.
///
/// It serves once it is made, and until `stop(within:)`, or until the task of `run()` is cancelled.
/// TLS and HTTP/2 are a reverse proxy's work.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: UInt16

  private let reception: Dispatcher
  private let handlers: HandlerTasks
  private let endpoints: [NetworkEndpoint]
  private let threads = ActivityCount()
  private let stopped = OneShot<Void>()

  /// Binds and listens, and serves from now on.
  package init(
    configuration: ServerConfiguration = ServerConfiguration(), router: Router,
    observer: ServerObserver = ServerObserver()
  ) throws {
    // A client that goes away while a file is sent to it must not end the process.
    ThisProcess.ignoreBrokenPipes()
    ThisProcess.raiseOpenFilesLimit()
    let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
    port = socket.port
    do {
      handlers = try HandlerTasks(threads: configuration.handlerThreads)
      reception = Dispatcher(
        configuration: configuration, handlers: handlers, router: router, observer: observer)
      endpoints = try (0..<configuration.networkThreads).map { _ in
        try NetworkEndpoint(try socket.descriptor.duplicate())
      }
      for endpoint in endpoints { try Self.start(endpoint, reception, counting: threads) }
    } catch {
      throw ServerError.cannotStart(error as? SystemError ?? SystemError(call: "pthread_create"))
    }
  }

  deinit { end() }

  /// How much it has on its hands.
  package var load: ServerLoad { reception.load }

  /// Returns when the server has stopped and everything it started has ended.
  package func run() async {
    await withTaskCancellationHandler {
      await stopped.value
    } onCancel: {
      close()
      stopped.fulfil(())
    }
    handlers.cancelAll()
    await Task { await handlers.waitUntilNone() }.value
    // Every handler has answered; its answer gets a moment to leave, even when this task is cancelled.
    await Task { await idle(within: .seconds(1)) }.value
    end()
    await Task { await threads.waitUntilNone() }.value
  }

  /// Takes no further connection or request, finishes the streams, lets requests under way finish for as long as
  /// `drain`, then cancels their handlers; `run()` returns after that.
  package func stop(within drain: Duration) async {
    close()
    await idle(within: drain)
    stopped.fulfil(())
  }

  private func close() {
    reception.close()
    for endpoint in endpoints { endpoint.mailbox.close() }
  }

  private func end() { for endpoint in endpoints { endpoint.mailbox.end() } }

  private func idle(within limit: Duration) async {
    let exchanges = reception.exchanges
    await withTaskGroup { group in
      group.addTask { await exchanges.waitUntilNone() }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  private static func start(
    _ endpoint: NetworkEndpoint, _ reception: Dispatcher, counting threads: ActivityCount
  ) throws(SystemError) {
    threads.begin()
    do {
      try NamedThread(name: "http-network") {
        NetworkThread(endpoint, reception: reception).run()
        threads.end()
      }.detach()
    } catch {
      threads.end()
      throw error
    }
  }
}
