import Glibc
import HTTPTesting
import Platform
import Testing

@testable import HTTPServer

struct RepresentationTests {
  private let representation = Representation(length: 100, entityTag: EntityTag(strong: "abc"), headers: [:])

  @Test(
    "a Range field selects a range, or is ignored",
    arguments: [
      ("bytes=0-9", Representation.Selection.part(0..<10)),
      ("bytes=90-", .part(90..<100)),
      ("bytes=-10", .part(90..<100)),
      ("bytes=-1000", .part(0..<100)),
      ("bytes=99-1000", .part(99..<100)),
      ("bytes=0-99999999999999999999", .part(0..<100)),
      ("Bytes = 5-5", .part(5..<6)),
      ("bytes=100-", .unsatisfiable),
      ("bytes=99999999999999999999-", .unsatisfiable),
      ("bytes=-0", .unsatisfiable),
      ("bytes=0-9,20-29", .full),
      ("bytes=9-0", .full),
      ("bytes=a-b", .full),
      ("bytes=-", .full),
      ("bytes=1-2-3", .full),
      ("bytes=1", .full),
      ("items=0-9", .full),
      ("", .full),
    ])
  func selectsARange(field: String, selection: Representation.Selection) {
    #expect(representation.selection(method: "GET", headers: ["Range": field]) == selection)
  }

  @Test("a range of an empty representation is not satisfiable")
  func emptyRepresentation() {
    let empty = Representation(length: 0, entityTag: EntityTag(strong: "abc"), headers: [:])
    #expect(empty.selection(method: "GET", headers: ["Range": "bytes=-5"]) == .unsatisfiable)
    #expect(empty.selection(method: "GET", headers: [:]) == .full)
  }

  @Test("HEAD ignores Range")
  func rangeOfHead() {
    #expect(representation.selection(method: "HEAD", headers: ["Range": "bytes=0-9"]) == .full)
  }

  @Test(
    "If-Range with another version selects the full representation",
    arguments: [
      (#""abc""#, Representation.Selection.part(0..<10)), (#"W/"abc""#, .full), (#""other""#, .full),
      ("Sat, 29 Oct 1994 19:43:31 GMT", .full),
    ])
  func ifRange(condition: String, selection: Representation.Selection) {
    #expect(
      representation.selection(method: "GET", headers: ["Range": "bytes=0-9", "If-Range": condition]) == selection)
  }

  @Test(
    "If-Match and If-None-Match are evaluated",
    arguments: [
      ("If-None-Match", #""abc""#, Representation.Selection.notModified),
      ("If-None-Match", #""x", W/"abc""#, .notModified),
      ("If-None-Match", "*", .notModified),
      ("If-None-Match", #""x""#, .full),
      ("If-Match", #""abc""#, .full),
      ("If-Match", "*", .full),
      ("If-Match", #"W/"abc""#, .preconditionFailed),
      ("If-Match", #""x""#, .preconditionFailed),
    ])
  func comparesVersions(field: String, value: String, selection: Representation.Selection) {
    #expect(representation.selection(method: "GET", headers: [field: value]) == selection)
  }
}

@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct FileTransferTests {
  /// A router that serves an unnamed file, which disappears when it is closed.
  private static func router(_ bytes: [UInt8]) throws -> Router {
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(bytes)
    let content = OpenFile(file)
    let route = Route("GET", "/file", admission: Route.open) { request in
      let representation = Representation(
        length: Int64(bytes.count), entityTag: EntityTag(strong: "v1"), headers: ["Content-Type": "video/mp4"])
      return try await representation.respond(to: request) { .file(FileRegion(content, $0)) }
    }
    return Router(routes: [route])
  }

  @Test("a network thread waits for no disk: what is not in memory is loaded elsewhere, and other connections go on")
  func loads() async throws {
    // A hole is not in memory.
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write([1], at: 2_999_999)
    let content = OpenFile(file)
    let loads = AsyncStream.makeStream(of: (@Sendable (Bool) -> Void).self)
    let router = Router(routes: [
      Route("GET", "/file", admission: Route.open) { _ in
        Response(
          .ok,
          body: .file(FileRegion(content, 0..<3_000_000) { _, _, onEnd in loads.continuation.yield(onEnd) }))
      },
      Route("GET", "/text", admission: Route.open) { _ in Response(.ok, body: .bytes([7])) },
    ])
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    try await withServer(configuration, router: router) { server in
      let (whole, broken) = (
        Task { try await request("GET", "/file", port: server.port) },
        Task { try await request("GET", "/file", port: server.port) }
      )
      var ends = loads.stream.makeAsyncIterator()
      let held = [await ends.next(), await ends.next()]
      for _ in 0..<3 {
        let text = try await request("GET", "/text", port: server.port)
        #expect(text.body == [7])
      }
      // Either of both; the other fails.
      held[0]?(true)
      held[1]?(false)
      let rest = Task { for await end in loads.stream { end(true) } }
      let results = [await whole.result, await broken.result]
      #expect(results.count { (try? $0.get().body) == [UInt8](repeating: 0, count: 2_999_999) + [1] } == 1)
      rest.cancel()
    }
  }

  @Test("files and ranges of files are sent")
  func sendsFiles() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
    try await withServer(router: try Self.router(bytes)) { server in
      let full = try await request("GET", "/file", port: server.port)
      #expect(full.status == 200)
      #expect(full.body == bytes)
      #expect(full.headers["etag"] == #""v1""#)
      #expect(full.headers["accept-ranges"] == "bytes")

      let part = try await request("GET", "/file", port: server.port, headers: [("Range", "bytes=1000-2000999")])
      #expect(part.status == 206)
      #expect(part.body == Array(bytes[1000..<2_001_000]))
      #expect(part.headers["content-range"] == "bytes 1000-2000999/3000000")

      let head = try await request("HEAD", "/file", port: server.port)
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == "3000000")

      let beyond = try await request("GET", "/file", port: server.port, headers: [("Range", "bytes=3000000-")])
      #expect(beyond.status == 416)
      #expect(beyond.headers["content-range"] == "bytes */3000000")

      let known = try await request("GET", "/file", port: server.port, headers: [("If-None-Match", #""v1""#)])
      #expect(known.status == 304)
      #expect(known.headers["etag"] == #""v1""#)
    }
  }

  @Test("a client that disconnects during a file does not affect the next one")
  func disconnect() async throws {
    let bytes = [UInt8](repeating: 9, count: 20_000_000)
    try await withServer(router: try Self.router(bytes)) { server in
      let port = server.port
      try await onThread("client") {
        let connection = try ClientConnection(port: port)
        try connection.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.reset()
      }
      #expect(try await request("GET", "/file", port: port).body.count == bytes.count)
    }
  }
}
