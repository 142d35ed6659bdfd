package import Platform

/// An HTTP/1.1 server. Network threads move the bytes, and tasks on other threads handle the requests.
///
/// The server runs from its initialization until `stop(within:)`, or until the task of `run()` is cancelled. A reverse
/// proxy provides TLS and HTTP/2.
package final class Server: Sendable {
  /// The port on which the server listens.
  package let port: UInt16

  private let dispatcher: Dispatcher
  private let handlers: HandlerTasks
  private let endpoints: [NetworkEndpoint]
  private let threads = ActivityCount()
  private let stopped = OneShot<Void>()

  /// Binds the address, listens, and starts the threads.
  package init(
    configuration: ServerConfiguration = ServerConfiguration(), router: Router,
    observer: ServerObserver = ServerObserver()
  ) throws {
    // A client that disconnects while a file is sent must not end the process.
    ThisProcess.ignoreBrokenPipes()
    ThisProcess.raiseOpenFilesLimit()
    let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
    port = socket.port
    do {
      handlers = try HandlerTasks(
        threads: configuration.handlerThreads, diskThreads: configuration.diskThreads, diskTime: configuration.diskTime)
      dispatcher = Dispatcher(
        configuration: configuration, handlers: handlers, router: router, observer: observer)
      endpoints = try (0..<configuration.networkThreads).map { _ in
        try NetworkEndpoint(try socket.descriptor.duplicate())
      }
      for endpoint in endpoints { try Self.start(endpoint, dispatcher, counting: threads) }
    } catch {
      throw ServerError.cannotStart(error as? SystemError ?? SystemError(call: "pthread_create"))
    }
  }

  deinit { end() }

  /// Serves the requests that begin from now on by other routes.
  package func use(_ router: Router) { dispatcher.use(router) }

  /// The current load.
  package var load: ServerLoad { dispatcher.load }

  /// Returns when the server has stopped and all its tasks and threads have ended.
  package func run() async {
    await withTaskCancellationHandler {
      await stopped.value
    } onCancel: {
      close()
      stopped.fulfil(())
    }
    handlers.cancelAll()
    await Task { await handlers.waitUntilNone() }.value
    // All handlers have ended. Their responses may still be sent for a second, even if this task is cancelled.
    await Task { await waitForRequests(within: .seconds(1)) }.value
    end()
    await Task { await threads.waitUntilNone() }.value
  }

  /// Refuses further connections and requests, finishes the streams, waits at most `drain` for the current requests,
  /// then cancels their handlers; `run()` returns after that.
  package func stop(within drain: Duration) async {
    close()
    await waitForRequests(within: drain)
    stopped.fulfil(())
  }

  private func close() {
    dispatcher.close()
    for endpoint in endpoints { endpoint.mailbox.stopAccepting() }
  }

  private func end() { for endpoint in endpoints { endpoint.mailbox.end() } }

  private func waitForRequests(within limit: Duration) async {
    let requests = dispatcher.requests
    await withTaskGroup { group in
      group.addTask { await requests.waitUntilNone() }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  private static func start(
    _ endpoint: NetworkEndpoint, _ dispatcher: Dispatcher, counting threads: ActivityCount
  ) throws(SystemError) {
    threads.begin()
    do {
      try NamedThread(name: "http-network") {
        NetworkThread(endpoint, dispatcher: dispatcher).run()
        threads.end()
      }.detach()
    } catch {
      threads.end()
      throw error
    }
  }
}

/// The reason why a server cannot start.
package enum ServerError: Error, CustomStringConvertible {
  /// The host is neither an address nor a name that resolves to one.
  case unknownHost(String, reason: String)
  /// The socket cannot be bound: the port is in use, or the address is not an address of this machine.
  case cannotListen(SystemError)
  /// A thread or a descriptor cannot be created.
  case cannotStart(SystemError)

  package var description: String {
    switch self {
    case .unknownHost(let host, let reason): "cannot listen on \(host): \(reason)"
    case .cannotListen(let error): "cannot listen: \(error); choose another address or port"
    case .cannotStart(let error): "the HTTP server cannot start: \(error); raise the limits of threads and open files"
    }
  }
}
