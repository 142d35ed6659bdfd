import FoundationEssentials
package import HTTPServer
import Platform

/// A bucket in memory, as a server of S3 has it, that a test lets hang. It checks no signatures, and has no uploads in parts.
package final class MemoryBucket: Sendable {
  /// What happens to requests.
  package enum Trouble: Sendable, CaseIterable {
    /// None is answered.
    case silent
    /// Each takes forty seconds.
    case slow
    /// Of each object the first half is sent.
    case stalling
  }

  private static let slowSeconds = 40

  private let objects = Locked<[String: [UInt8]]>([:])
  private let log = Locked<[String]>([])
  private let trouble = Locked<Trouble?>(nil)

  package init() {}

  /// The URL of the bucket, on a server with `router`.
  package static func url(port: UInt16) -> String { "s3://bucket?endpoint=http://127.0.0.1:\(port)" }

  /// The keys of a client.
  package static let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]

  package var router: Router {
    let routes = ["/bucket", "/bucket/{key}", "/bucket/{shard}/{key}"].flatMap { template in
      ["GET", "PUT", "DELETE"].map { method in
        Route(method, template, bodyLimit: 16 << 20, admission: Route.open) { try await self.respond(to: $0) }
      }
    }
    return Router(routes: routes, fallbackAdmission: Route.open)
  }

  /// Begins a trouble, or ends it: then what waits is answered.
  package func set(_ trouble: Trouble?) { self.trouble.withLock { $0 = trouble } }

  /// Removes all objects, as a collector does.
  package func clear() { objects.withLock { $0 = [:] } }

  /// Returns the methods of the requests since the last call.
  package func requests() -> [String] {
    log.withLock { log in
      defer { log = [] }
      return log
    }
  }

  private func respond(to request: Request) async throws -> Response {
    log.withLock { $0.append(request.method) }
    try await pass()
    let path = request.target.segments.dropFirst().joined(separator: "/")
    switch request.method {
    case "PUT":
      let content = try await request.body.collect(upTo: 16 << 20)
      let isOnlyNew = request.headers["if-none-match"] == "*"
      let isWritten = objects.withLock { objects in
        if isOnlyNew, objects[path] != nil { return false }
        objects[path] = content
        return true
      }
      return Response(isWritten ? .ok : .preconditionFailed)
    case "DELETE":
      objects.withLock { $0[path] = nil }
      return Response(.noContent)
    case "GET" where path.isEmpty: return list(request)
    default:
      guard let content = objects.withLock({ $0[path] }) else { return Response(.notFound) }
      guard request.method == "GET", trouble.withLock({ $0 }) == .stalling, path.contains("/") else {
        return Response(.ok, body: .bytes(content))
      }
      let stream = BodyStream(backlog: 16 << 20, heartbeat: [])
      stream.write(Array(content.prefix(content.count / 2)))
      return Response(.ok, body: .stream(stream))
    }
  }

  /// Waits for as long as a request takes.
  private func pass() async throws {
    let end = ContinuousClock.now + .seconds(Self.slowSeconds)
    while true {
      switch trouble.withLock({ $0 }) {
      case .silent: break
      case .slow where ContinuousClock.now < end: break
      default: return
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private func list(_ request: Request) -> Response {
    let prefix = request.target.query.first { $0.name == "prefix" }?.value ?? ""
    let isOfUploads = request.target.query.contains { $0.name == "uploads" }
    let found =
      isOfUploads
      ? []
      : objects.withLock { objects in objects.filter { $0.key.hasPrefix(prefix) }.map { ($0.key, $0.value.count) } }
    let time = Date.now.formatted(.iso8601)
    let contents = found.map { key, bytes in
      "<Contents><Key>\(key)</Key><Size>\(bytes)</Size><LastModified>\(time)</LastModified></Contents>"
    }
    return Response(.ok, body: .bytes(Array("<ListBucketResult>\(contents.joined())</ListBucketResult>".utf8)))
  }
}
