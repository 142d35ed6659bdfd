import FoundationEssentials
package import HTTPServer
import Platform
import WaitTesting

/// A bucket in memory, as a server of S3 has it, that a test lets hang, or that has the manners of some store. It checks no signatures.
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

  /// What some stores, or the servers before them, do.
  package enum Manner: Sendable, CaseIterable {
    /// A POST or a PUT without a length is refused with 411.
    case wantsLength
    /// The first conditional request for each object meets another writer.
    case conflicts
    /// The first completion of an upload has status 200 and an error in its body.
    case failsLate
    /// It has that, and has put the parts together.
    case completesLate
    /// The first upload is lost before its completion.
    case losesUpload
    /// The first PUT of each object has status 200 and an error in its body, and writes nothing.
    case failsInBody
    /// The first list has status 200 and an error in its body.
    case failsInList
    /// Each list is a page of another server.
    case isAway
    /// No key may write.
    case refusesWrites
  }

  private static let slowSeconds = 40

  let objects = Locked<[String: [UInt8]]>([:])
  let uploads = Locked<[String: [Int: [UInt8]]]>([:])
  private let manner = Locked<Manner?>(nil)
  /// What has happened once.
  private let done = Locked<Set<String>>([])
  private let log = Locked<[String]>([])
  private let trouble = Locked<Trouble?>(nil)

  package init() {}

  /// The URL of the bucket, on a server with `router`.
  package static func url(port: UInt16) -> String { "s3://bucket?endpoint=http://127.0.0.1:\(port)" }

  /// The keys of a client.
  package static let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]

  package var router: Router {
    let routes = ["/bucket", "/bucket/{key}", "/bucket/{shard}/{key}"].flatMap { template in
      ["GET", "PUT", "POST", "DELETE"].map { method in
        Route(method, template, bodyLimit: 16 << 20, admission: Route.open) { try await self.respond(to: $0) }
      }
    }
    return Router(routes: routes, fallbackAdmission: Route.open)
  }

  /// Begins a trouble, or ends it: then what waits is answered.
  package func set(_ trouble: Trouble?) { self.trouble.withLock { $0 = trouble } }

  /// Takes a manner, or none.
  package func take(_ manner: Manner?) { self.manner.withLock { $0 = manner } }

  /// Whether the bucket has a manner, and this has not happened to an object.
  func isFirst(_ wanted: Manner, _ object: String = "") -> Bool {
    manner.withLock { $0 == wanted } && done.withLock { $0.insert("\(wanted) \(object)").inserted }
  }

  package static func error(_ code: String, _ status: Status = .ok) -> Response {
    Response(
      status,
      body: .bytes(Array("<?xml version='1.0'?>\n<Error><Code>\(code)</Code><Message>Wait</Message></Error>".utf8)))
  }

  /// The content of an object.
  package func content(of name: String) -> [UInt8]? { objects.withLock { $0[name] } }

  /// The names of the objects.
  package var names: [String] { objects.withLock { Array($0.keys) } }

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
    if manner.withLock({ $0 == .wantsLength }), ["POST", "PUT"].contains(request.method),
      request.headers["content-length"] == nil
    {
      return Self.error("", Status(code: 411, phrase: "Length Required"))
    }
    if manner.withLock({ $0 == .refusesWrites }), request.method != "GET", request.method != "HEAD" {
      return Self.error("AccessDenied", Status(code: 403, phrase: "Forbidden"))
    }
    if request.headers["if-none-match"] != nil, isFirst(.conflicts, path) {
      return Self.error("ConditionalRequestConflict", .conflict)
    }
    if let response = try await respond(toUploadIn: request, path) { return response }
    switch request.method {
    case "PUT":
      let content = try await request.body.collect(upTo: 16 << 20)
      if path.contains("/"), isFirst(.failsInBody, path) { return Self.error("InternalError") }
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
    let deadline = Deadline("the end of the trouble", within: .seconds(600))
    while true {
      try deadline.check()
      switch trouble.withLock({ $0 }) {
      case .silent: break
      case .slow where ContinuousClock.now < end: break
      default: return
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private func list(_ request: Request) -> Response {
    if isFirst(.failsInList) { return Self.error("SlowDown") }
    if manner.withLock({ $0 == .isAway }) { return Response(.ok, body: .bytes(Array("<html>Sign in</html>".utf8))) }
    let prefix = request.target.query.first { $0.name == "prefix" }?.value ?? ""
    if request.target.query.contains(where: { $0.name == "uploads" }) {
      return Response(.ok, body: .bytes(Array("<ListMultipartUploadsResult></ListMultipartUploadsResult>".utf8)))
    }
    let found = objects.withLock { objects in
      objects.filter { $0.key.hasPrefix(prefix) }.map { ($0.key, $0.value.count) }
    }
    let time = Date.now.formatted(.iso8601)
    let contents = found.map { key, bytes in
      "<Contents><Key>\(key)</Key><Size>\(bytes)</Size><LastModified>\(time)</LastModified></Contents>"
    }
    return Response(.ok, body: .bytes(Array("<ListBucketResult>\(contents.joined())</ListBucketResult>".utf8)))
  }
}
