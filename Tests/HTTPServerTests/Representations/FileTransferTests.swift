import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing

@Suite(.tags(.network), .timeLimit(.minutes(10)))
struct FileTransferTests {
  /// A route that serves a file without a name, which is gone when the test is.
  private static func router(_ bytes: [UInt8]) throws -> Router {
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(bytes)
    let kept = FileRegion(file, offset: 0, count: Int64(bytes.count))
    let route = Route("GET", "/file") { request in
      let representation = Representation(
        length: kept.count, entityTag: EntityTag(strong: "v1"), headers: ["Content-Type": "video/mp4"])
      return try representation.respond(to: request) { .file(try kept.part($0)) }
    }
    return Router(routes: [route])
  }

  @Test func sendsWholeFilesAndParts() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
    try await withServer(router: try Self.router(bytes)) { server in
      let whole = try await request("GET", "/file", port: server.port)
      #expect(whole.status == 200)
      #expect(whole.body == bytes)
      #expect(whole.headers["etag"] == #""v1""#)
      #expect(whole.headers["accept-ranges"] == "bytes")

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

  @Test("A client that leaves in the middle of a file does not disturb the next one")
  func survivesAClientThatLeaves() async throws {
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
