import Glibc
package import Platform

/// The parent's side of the jobs of one slot: a fork server, and for each request a child of it.
struct MediaConnection {
  private let configuration: MediaProcess.Configuration
  private var server: MediaServer?

  /// Starts no process before the first request.
  init(_ configuration: MediaProcess.Configuration) { self.configuration = configuration }

  /// The id of the fork server; nil while there is none.
  var processID: Int32? { server?.processID }

  /// Ends the server, if there is one.
  mutating func close() { server = nil }

  /// The running server; starts one if there is none with the libraries that a job needs, or if it has ended.
  mutating func start(_ libraries: LibraryGroup) throws(MediaFailure) -> MediaServer {
    if let server, server.libraries >= libraries, server.isRunning { return server }
    server = nil
    let started = try MediaServer.start(configuration, libraries: libraries)
    server = started
    return started
  }

  /// Runs a request in a child of its own, and returns its reply once the child has ended: no living process can write
  /// its outputs any more.
  ///
  /// - Parameters:
  ///   - libraries: those that its job needs.
  ///   - descriptors: sent with the request; the caller owns them.
  ///   - deadline: the maximum duration.
  ///   - progress: receives the completed fraction, as the child reports it.
  mutating func exchange(
    _ request: MediaRequest, needing libraries: LibraryGroup, descriptors: [Int32], deadline: Duration,
    cancellation: CancellationFlag,
    progress: (Double) -> Void
  ) throws(MediaFailure) -> MediaReply {
    let exchange = JobExchange(
      stage: request.stage, limits: configuration.limits(deadline: deadline), deadline: deadline,
      cancellation: cancellation)
    let server = try start(libraries)
    do {
      return try exchange.complete(
        Envelope.encode(request), descriptors: descriptors, in: server, progress: progress)
    } catch let failure as MediaFailure {
      // The fault may be the server's: the next request starts another one.
      if failure.kind == .unavailable || failure.kind == .interrupted { close() }
      throw failure
    } catch {
      close()
      throw MediaFailure(.unavailable, "the media process: \(error)")
    }
  }
}

extension MediaProcess.Configuration {
  /// The limits of a child with this deadline.
  fileprivate func limits(deadline: Duration) -> MediaCrash.Limits {
    let seconds = deadline / .seconds(1)
    return MediaCrash.Limits(
      memory: memoryLimit,
      cpuSeconds: UInt64((max(1, seconds) * Double(ThisProcess.processors)).rounded(.up)),
      fileSize: fileSizeLimit, deadlineSeconds: seconds)
  }
}

extension Failpoint {
  static let spawn = Failpoint("media.spawn")
  static let request = Failpoint("media.request")

  /// The failpoints of media processes.
  package static let mediaProcesses = [spawn, request]
}
