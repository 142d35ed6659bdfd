import FoundationEssentials
internal import HTTPTesting
internal import Model

/// The routes that the service describes (`/openapi.json`), with the ids of a bench in their paths.
struct DescribedRoutes: Sendable {
  /// Those that are read, without streams.
  let reads: [String]
  /// Those with a body of JSON, and those with a form.
  let objects: [String]
  let forms: [String]

  /// What has few requests, which are counted before they are read.
  private static let counted = ["accounts", "sessions", "session", "password-resets", "password"]

  init(port: UInt16) throws {
    var connection = try ClientConnection(port: port)
    try connection.send("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let document = try JSON.decode(Document.self, from: connection.receive().body)
    func routes(_ isMeant: (String, Document.Operation) -> Bool) -> [String] {
      document.paths.flatMap { path, operations in
        operations.filter { isMeant($0.key, $0.value) && !Self.isCounted(path) }
          .map { "\($0.key.uppercased()) \(Self.filled(path))" }
      }.sorted()
    }
    reads = routes { method, operation in method == "get" && !operation.types.contains("text/event-stream") }
    objects = routes { _, operation in operation.bodies.contains("application/json") }
    forms = routes { _, operation in operation.bodies.contains("multipart/form-data") }
  }

  private static func isCounted(_ path: String) -> Bool {
    path.split(separator: "/").contains { counted.contains("\($0)") }
  }

  private static func filled(_ path: String) -> String {
    let isOfUser = path.hasPrefix("/v1/users/")
    return path.replacing(
      "{id}", with: isOfUser ? "mallory" : "00000000-0000-4000-8000-000000000000", maxReplacements: 1
    )
    .split(separator: "/", omittingEmptySubsequences: false)
    .map { $0.hasPrefix("{") ? "00000000-0000-4000-8000-000000000000" : String($0) }.joined(separator: "/")
  }

  private struct Document: Decodable {
    struct Operation: Decodable {
      /// The media types of bodies, and of responses.
      var bodies: [String] = []
      var types: [String] = []

      init(from decoder: any Decoder) {
        // What all methods of a path have in common has another form.
        guard let members = try? Members(from: decoder) else { return }
        bodies = members.requestBody?.content.map { Array($0.keys) } ?? []
        types = members.responses?.values.flatMap { $0.content.map { Array($0.keys) } ?? [] } ?? []
      }
    }

    private struct Members: Decodable {
      struct Content: Decodable { let content: [String: Nothing]? }
      struct Nothing: Decodable {}
      let requestBody: Content?
      let responses: [String: Content]?
    }

    let paths: [String: [String: Operation]]
  }
}
