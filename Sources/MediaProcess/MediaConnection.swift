import Glibc
package import Platform

/// The parent's side of the jobs of one slot: a fork server, and for each job a child of it.
struct MediaConnection {
  private let configuration: MediaProcess.Configuration
  private var server: MediaServer?

  /// Starts no process before the first job.
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

  /// Does a job in a child of its own, and returns its last reply once the child has ended: no living process can write
  /// its outputs any more.
  ///
  /// - Parameters:
  ///   - libraries: those that the job needs.
  ///   - deadline: the maximum duration.
  ///   - next: returns the request that follows the facts of a probe; nil: the job ends with them.
  ///   - progress: receives the completed fraction, as the child reports it.
  mutating func exchange(
    _ request: JobRequest, needing libraries: LibraryGroup, deadline: Duration, cancellation: CancellationFlag,
    next: (ProbeReport) throws(MediaFailure) -> JobRequest? = { _ in nil }, progress: (Double) -> Void = { _ in }
  ) throws(MediaFailure) -> MediaReply {
    let exchange = JobExchange(
      limits: configuration.limits(deadline: deadline), deadline: deadline, cancellation: cancellation)
    let server = try start(libraries)
    do {
      return try exchange.complete(request, in: server, next: next, progress: progress)
    } catch let failure as MediaFailure {
      // The fault may be the server's: the next job starts another one.
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
