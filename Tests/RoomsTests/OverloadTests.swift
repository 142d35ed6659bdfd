import HTTPTesting
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Overload", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OverloadTests {
  /// Submits a moment and sends the second half of its body when the gate is closed; returns the status of the response.
  static func submitSlowly(_ port: UInt16, as user: String? = nil, _ gate: Channel<Int>) async throws -> Int {
    try await onThread("client") {
      let form = MultipartForm.moment(post: #"{"author":"\#(user ?? "ada")"}"#)
      let (type, body) = (form.contentType, form.bytes)
      var connection = try ClientConnection(port: port)
      try connection.send(
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
          + "\(user.map { "Take5-User: \($0)\r\n" } ?? "")\r\n")
      try connection.send(Array(body.prefix(body.count / 2)))
      _ = gate.take()
      try connection.send(Array(body.dropFirst(body.count / 2)))
      return try connection.receive().status
    }
  }

  static func admitted(_ count: Int, by limit: SharedLimit) async throws {
    try await until { limit.count >= count }
  }

  /// The head of the response to a submission that waits for it before it sends its body.
  static func headOfRefusal(_ port: UInt16, as user: String? = nil) async throws -> String {
    let form = MultipartForm.moment()
    return try await onThread("client") {
      var connection = try ClientConnection(port: port)
      try connection.send(
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(form.contentType)\r\n"
          + "\(user.map { "Take5-User: \($0)\r\n" } ?? "")"
          + "Content-Length: \(form.bytes.count)\r\nExpect: 100-continue\r\n\r\n")
      return try connection.receiveHead()
    }
  }

  @Test("a submission beyond the limit is refused before its body, and the admitted ones are stored")
  func tooMany() async throws {
    try await RunningAPI.with(.init(api: .init(maxSubmissions: 2))) { api in
      let gate = Channel<Int>(capacity: 1)
      async let first = Self.submitSlowly(api.port, as: "ada", gate)
      async let second = Self.submitSlowly(api.port, as: "bob", gate)
      try await Self.admitted(2, by: api.submissions.limit)
      let form = MultipartForm.moment()
      let refused = try await Self.headOfRefusal(api.port)
      #expect(refused.hasPrefix("HTTP/1.1 503 "))
      #expect(refused.lowercased().contains("retry-after: "))
      #expect(try await api.submit(form).json["type"] == .string("urn:take5:problem:overloaded"))
      // Reading does not count.
      #expect(try await api.get("/v1/posts").status == 200)
      gate.close()
      let statuses = try await [first, second]
      #expect(statuses == [202, 202])
      #expect(try await api.submit(form).status == 202)
    }
  }

  @Test("slow uploads hold no database connection, and wait for one longer than readers")
  func smallPool() async throws {
    try await RunningAPI.with(.init(timeout: .milliseconds(100))) { api in
      let count = 40
      let gate = Channel<Int>(capacity: 1)
      let release = Channel<Int>(capacity: 1)
      let (held, port) = (Shared(0), api.port)
      let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
        for _ in 0..<count { group.addTask { try await Self.submitSlowly(port, gate) } }
        try await Self.admitted(count, by: api.submissions.limit)
        #expect(try await api.get(Self.noPost).status == 404)

        // All connections of the pool are in use for longer than the timeout of a reader.
        for _ in 0..<3 {
          group.addTask {
            try await api.pool.run(timeout: .seconds(60)) { _ in
              held.withLock { $0 += 1 }
              _ = release.take()
              return nil
            }
          }
        }
        try await until { held.withLock { $0 } >= 3 }
        gate.close()
        for _ in 0..<3 {
          let reader = try await api.get(Self.noPost)
          #expect(reader.status == 503)
          #expect(reader.json["type"] == .string("urn:take5:problem:overloaded"))
        }
        release.close()
        return try await group.reduce(into: [Int: Int]()) { statuses, status in
          if let status { statuses[status, default: 0] += 1 }
        }
      }
      #expect(statuses == [202: count])
    }
  }

  private static let noPost = "/v1/posts/01890000-0000-7000-8000-000000000000"
}
