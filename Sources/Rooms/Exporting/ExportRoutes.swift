internal import Blobs
internal import HTTPServer
internal import Kit
internal import Model
internal import Platform
internal import Store

/// The route by which users take along what is theirs.
struct ExportRoutes: RouteRoom {
  let kit: Kit
  let streams: OpenStreams
  let reads: BlobReads
  let exports = Exports()

  var routes: [Route] {
    [route("GET", "/v1/users/{id}/export", access: .key([.read]), handler: exportUser)]
  }

  private func exportUser(_ request: Request) async throws -> Response {
    let user = try name(request)
    guard request.caller.viewer.owns(user) else { throw Caller.notYours("The request acts as another user.") }
    let headers: HeaderFields = [
      "Content-Type": "application/zip", "Cache-Control": "no-store",
      "Content-Disposition": #"attachment; filename="take5-export.zip""#, "X-Content-Type-Options": "nosniff",
    ]
    guard request.method != "HEAD" else { return Response(.ok, headers: headers, body: .stream(BodyStream())) }
    let lifetime = StreamLifetime()
    // An archive has no place for heartbeats.
    let stream = BodyStream(heartbeat: []) { _ in lifetime.end() }
    lifetime.attach(try streams.add(stream, of: request))
    do {
      let export = UserExport(user: user, reads: reads, database: database) { bytes in
        guard bytes.isEmpty || stream.write(bytes), await stream.drained() else { throw ExportEnded() }
      }
      lifetime.attach(try exports.start(export, for: request.shareHolder, sending: stream))
    } catch {
      lifetime.end()
      throw error
    }
    return Response(.ok, headers: headers, body: .stream(stream))
  }
}

/// The client of an export has disconnected, or its credential has ended.
private struct ExportEnded: Error {}

/// The exports that are being sent. Each has a thread, because it compresses and reads files.
final class Exports: Sendable {
  /// The maximum number of exports, and the share of a user.
  static let maxExports = 4
  static let userExports = 1

  let limit = SharedLimit("running export", max: maxExports, userShare: userExports, retryAfter: 30)

  /// Starts an export; throws a problem if too many are running. If it fails, the connection is closed before the body is
  /// complete.
  ///
  /// - Returns: a subscription to cancel when its stream has ended.
  func start(
    _ export: UserExport, for holder: ShareHolder, sending stream: BodyStream
  ) throws -> StreamSubscription {
    try limit.take(holder)
    let executor: ThreadExecutor
    do { executor = try ThreadExecutor(name: "export", threads: 1) } catch {
      limit.leave(holder)
      throw error
    }
    let task = Task(executorPreference: executor) { [limit] in
      do {
        try await export.run()
        // Before the last byte: its client may ask for another one at once.
        limit.leave(holder)
        stream.finish()
      } catch {
        limit.leave(holder)
        stream.cut()
      }
      executor.stop()
    }
    return StreamSubscription { task.cancel() }
  }
}
