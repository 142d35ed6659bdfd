import FoundationEssentials
import HTTPServer
import HTTPTesting
import Model
import Platform
import Testing

@testable import ControlAPI

@Suite("OpenAPI document", .tags(.database, .network), .timeLimit(.minutes(5)))
struct OpenAPITests {
  /// The root directory of the repository.
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  private static let document = Result { Array(try text(of: "Sources/OpenAPI/openapi.json").utf8) }

  private static let content = document.flatMap { document in Result { try JSONValue(text: document) } }

  private static func read() throws -> JSONValue { try content.get() }

  @Test("the routes are exactly the operations of the document")
  func routes() async throws {
    let paths = try Self.read()["paths"]
    let operations = paths.names.flatMap { path in
      paths[path].names.subtracting(["parameters"]).map { "\($0.uppercased()) \(path)" }
    }
    let routes = try await RunningAPI.with { api in api.routes.map { "\($0.method) \($0.template)" } }
    #expect(Set(routes).count == routes.count)
    #expect(Set(routes) == Set(operations))
  }

  @Test("no draft requires the author, whom a request that acts as a user does not name")
  func authors() throws {
    let schemas = try Self.read()["components"]["schemas"]
    let drafts = schemas.names.filter { $0.hasSuffix("Draft") || $0.hasSuffix("Form") }
    let withAuthor = drafts.filter { schemas[$0]["properties"]["author"] != .null }
    #expect(withAuthor.count > 6)
    for name in withAuthor { #expect(!schemas[name]["required"].elements.contains(.string("author")), "\(name)") }
  }

  @Test("operation ids are unique, and every path parameter is described")
  func operations() throws {
    let paths = try Self.read()["paths"]
    var names: [String] = []
    for path in paths.names {
      for method in paths[path].names.subtracting(["parameters"]) {
        let name = paths[path][method]["operationId"].text
        names.append(try #require(name))
      }
      let parameters = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
      let described = try paths[path]["parameters"].elements.compactMap { parameter in
        try Self.resolved(parameter)["in"] == .string("path") ? Self.resolved(parameter)["name"].text : nil
      }
      #expect(described.sorted() == parameters.map(String.init).sorted(), "\(path)")
    }
    #expect(Set(names).count == names.count)
  }

  @Test("a key allows exactly the operations whose documented scopes it has", arguments: Scope.allCases)
  func scopes(scope: Scope) async throws {
    let document = try Self.read()
    try await RunningAPI.with { api in
      _ = try await api.createKey("t5-one", [scope])
      for path in document["paths"].names {
        for method in document["paths"][path].names.subtracting(["parameters"]) {
          let security = document["paths"][path][method]["security"]
          let needed = security.elements.flatMap { $0["key"].elements.compactMap(\.text) }
          if security == .array([]) { continue }
          let needsToken = security.elements.allSatisfy { $0["userToken"] != .null }
          #expect(needed.isEmpty == needsToken, "\(method) \(path)")
          // A stream does not end; the response to HEAD has the same status.
          let response = try await request(
            method == "get" ? "HEAD" : method.uppercased(), Self.filled(path), port: api.port,
            headers: [("Authorization", "Bearer t5-one"), ("Content-Type", "application/json")], body: [])
          let isAllowed = !needsToken && Set(needed).isSubset(of: [scope.rawValue])
          #expect((response.status == 403) == !isAllowed, "\(method) \(path)")
        }
      }
    }
  }

  @Test("a request without a key is refused, except by the operations that the document leaves open")
  func openOperations() async throws {
    let document = try Self.read()
    try await RunningAPI.with(.init(key: "k1")) { api in
      for path in document["paths"].names {
        for method in document["paths"][path].names.subtracting(["parameters"]) {
          let security = document["paths"][path][method]["security"]
          let isOpen = security == .array([]) || security.elements.contains(.object([:]))
          let response = try await request(method.uppercased(), Self.filled(path), port: api.port, body: [])
          #expect((response.status == 401) == !isOpen, "\(method) \(path)")
        }
      }
    }
  }

  @Test("every operation refuses a parameter that it does not know, and has no effect")
  func unknownParameters() async throws {
    let document = try Self.read()
    try await RunningAPI.with(.init(key: "k1")) { api in
      let token = try await api.token(of: "ada", minter: .operatorKey).header
      for path in document["paths"].names {
        // A supervisor that adds something to the path does not take the service for dead.
        if ["/livez", "/readyz"].contains(path) { continue }
        for method in document["paths"][path].names.subtracting(["parameters"]) {
          let security = document["paths"][path][method]["security"].elements
          let needsToken =
            path == "/v1/events" || !security.isEmpty && security.allSatisfy { $0["userToken"] != .null }
          let response = try await request(
            method.uppercased(), "\(Self.filled(path))?unknown=1", port: api.port,
            headers: [("Content-Type", "application/json")] + (needsToken ? token : [("Authorization", "Bearer k1")]),
            body: [])
          #expect(response.status == 400, "\(method) \(path)")
          #expect(response.json["type"].text == ProblemKind.invalidQuery.type, "\(method) \(path)")
          let fields = response.json["errors"].elements.map { $0["field"].text }
          #expect(fields.contains("unknown"), "\(method) \(path)")
        }
      }
      #expect(try await api.storedCount() == 0)
    }
  }

  /// Returns a path of a template, with an id for each parameter.
  private static func filled(_ template: String) -> String {
    let parts = template.split(separator: "/").map { part in
      part.hasPrefix("{") ? "00000000-0000-7000-8000-000000000000" : part
    }
    return "/" + parts.joined(separator: "/")
  }

  @Test("bytes of an upload that a post awaits may be refused, by PATCH and by the request that stands for it")
  func overriding() throws {
    let upload = try Self.read()["paths"]["/v1/uploads/{id}"]
    func errors(_ method: String) -> Set<String> { Set(upload[method]["responses"].names.filter { $0 >= "400" }) }
    #expect(errors("patch").contains("422"))
    #expect(errors("post").isSuperset(of: errors("patch").union(errors("delete"))))
  }

  @Test("every reference resolves")
  func references() throws {
    for reference in Self.references(in: try Self.read()) {
      #expect(try Self.resolved(.object(["$ref": .string(reference)])) != .null, "\(reference)")
    }
  }

  /// A kind of problem, of the API or of the server.
  private struct Kind {
    let status: Status
    let title: String
    /// Nil for a kind of the server, whose remedies depend on the occurrence.
    let remedy: String?
  }

  /// All kinds by their types.
  private static let kinds = Dictionary(
    ProblemKind.allCases.map { kind in
      let problem = kind.problem("")
      let remedy = problem.members.first { $0.name == "remedy" }?.value ?? .string("")
      guard case .string(let remedy) = remedy else { preconditionFailure("a remedy is a text") }
      return (kind.type, Kind(status: problem.status, title: problem.title, remedy: remedy))
    } + ServerProblem.allCases.map { ($0.type, Kind(status: $0.status, title: $0.title, remedy: nil)) },
    uniquingKeysWith: { own, _ in own })

  /// The paragraph of each problem in docs/problems.md, by the type.
  private static let paragraphs = Result {
    let found = try text(of: "docs/problems.md").matches(of: /\n### (\w+)\n\n([^\n]+)\n/)
    return Dictionary(grouping: found.map { (ServerProblem.namespace + $0.1, String($0.2)) }, by: \.0)
      .mapValues { $0.map(\.1) }
  }

  @Test(
    "every kind of problem has its type and status in the document, and a paragraph", arguments: kinds.keys.sorted())
  func problems(type: String) throws {
    let document = try Self.read()
    let types = document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"].elements
    #expect(types.contains(.string(type)))
    let paths = document["paths"]
    let statuses = paths.names.flatMap { path in paths[path].names.flatMap { paths[path][$0]["responses"].names } }
    let kind = try #require(Self.kinds[type])
    // The server refuses some requests before it knows their operation.
    #expect(statuses.contains("\(kind.status.code)") || [417, 431, 505].contains(kind.status.code))
    let paragraphs = try #require(Self.paragraphs.get()[type])
    #expect(paragraphs.count == 1)
    let parts = try #require(paragraphs[0].wholeMatch(of: /(.+?): (.+)\. \*\*(.+)\*\*.*/))
    #expect(parts.1 == "\(kind.status.code) \(kind.title)")
    if let remedy = kind.remedy { #expect(parts.3 == remedy) }
  }

  @Test("every documented problem type exists")
  func unknownProblems() throws {
    let types = try Self.read()["components"]["schemas"]["Problem"]["properties"]["type"]["enum"].elements
    #expect(Set(types.compactMap(\.text)) == Set(Self.kinds.keys))
    #expect(try Set(Self.paragraphs.get().keys) == Set(Self.kinds.keys))
  }

  @Test("the document is served without a key, with an entity tag")
  func served() async throws {
    try await RunningAPI.with(.init(key: "k1")) { api in
      let response = try await api.get("/openapi.json")
      #expect(response.status == 200)
      #expect(response.headers["content-type"] == "application/json")
      #expect(response.body == (try Self.document.get()))
      let tag = try #require(response.headers["etag"])
      #expect(try await api.get("/openapi.json", headers: [("If-None-Match", tag)]).status == 304)
    }
  }

  private static func resolved(_ value: JSONValue) throws -> JSONValue {
    guard let reference = value["$ref"].text else { return value }
    return try reference.split(separator: "/").dropFirst().reduce(read()) { $0[String($1)] }
  }

  private static func references(in value: JSONValue) -> Set<String> {
    switch value {
    case .object(let members):
      members.values.reduce(into: Set([value["$ref"].text].compactMap(\.self))) { $0.formUnion(references(in: $1)) }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(references(in: $1)) }
    default: []
    }
  }
}
