import FoundationEssentials
import HTTPServer
import HTTPTesting
import Model
import Platform
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("OpenAPI document", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OpenAPITests {
  /// The root directory of the repository.
  private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// The document that a service serves.
  private static let served = Task { try await RunningAPI.with { try await $0.get("/openapi.json").json } }

  private static func read() async throws -> JSONValue { try await served.value }

  @Test("the routes are exactly the operations of the document")
  func routes() async throws {
    let paths = try await Self.read()["paths"]
    let operations = paths.names.flatMap { path in
      paths[path].names.subtracting(["parameters"]).map { "\($0.uppercased()) \(path)" }
    }
    let routes = try await RunningAPI.with { api in api.routes.map { "\($0.method) \($0.template)" } }
    #expect(Set(routes).count == routes.count)
    #expect(Set(routes) == Set(operations))
  }

  @Test("no draft requires the author, whom a request that acts as a user does not name")
  func authors() async throws {
    let schemas = try await Self.read()["components"]["schemas"]
    let drafts = schemas.names.filter { $0.hasSuffix("Draft") || $0.hasSuffix("Form") }
    let withAuthor = drafts.filter { schemas[$0]["properties"]["author"] != .null }
    #expect(withAuthor.count > 6)
    for name in withAuthor { #expect(!schemas[name]["required"].elements.contains(.string("author")), "\(name)") }
  }

  @Test("bytes have the one type that generators of clients know, and no parameter has a constant, which they drop")
  func generators() async throws {
    let document = try await Self.read()
    var operations = 0
    for path in document["paths"].names {
      for method in document["paths"][path].names.subtracting(["parameters"]) {
        let operation = document["paths"][path][method]
        for parameter in operation["parameters"].elements {
          #expect(Self.resolved(parameter, document)["schema"]["const"] == .null, "\(method) \(path)")
        }
        let contents = operation["requestBody"]["content"]
        let types = contents.names.filter {
          Self.resolved(contents[$0]["schema"], document)["format"] == .string("binary")
        }
        guard !types.isEmpty else { continue }
        operations += 1
        #expect(types.contains("application/octet-stream"), "\(method) \(path)")
      }
    }
    #expect(operations == 6)
  }

  @Test("operation ids are unique, and every path parameter is described")
  func operations() async throws {
    let document = try await Self.read()
    let paths = document["paths"]
    var names: [String] = []
    for path in paths.names {
      for method in paths[path].names.subtracting(["parameters"]) {
        let name = paths[path][method]["operationId"].text
        names.append(try #require(name))
      }
      let parameters = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
      let described = paths[path]["parameters"].elements.map { Self.resolved($0, document) }
        .filter { $0["in"] == .string("path") }.compactMap { $0["name"].text }
      #expect(described.sorted() == parameters.map(String.init).sorted(), "\(path)")
    }
    #expect(Set(names).count == names.count)
  }

  @Test("a key allows exactly the operations whose documented scopes it has", arguments: Scope.allCases)
  func scopes(scope: Scope) async throws {
    let document = try await Self.read()
    try await RunningAPI.with { api in
      _ = try await api.createKey("t5-one", [scope])
      for path in document["paths"].names {
        for method in document["paths"][path].names.subtracting(["parameters"]) {
          let security = document["paths"][path][method]["security"]
          let needed = security.elements.flatMap { $0["key"].elements.compactMap(\.text) }
          if security == .array([]) { continue }
          let needsToken = security.elements.allSatisfy { $0["userToken"] != .null }
          #expect(needed.isEmpty == needsToken, "\(method) \(path)")
          // As a user: for the events of all users a key needs `events` too. A stream does not end; the response to HEAD has the same status.
          let acting = path == "/v1/events" ? [("Take5-User", "ada")] : []
          let response = try await request(
            method == "get" ? "HEAD" : method.uppercased(), Self.filled(path), port: api.port,
            headers: [("Authorization", "Bearer t5-one"), ("Content-Type", "application/json")] + acting, body: [])
          let isAllowed = !needsToken && Set(needed).isSubset(of: [scope.rawValue])
          #expect((response.status == 403) == !isAllowed, "\(method) \(path)")
        }
      }
    }
  }

  @Test("a user token is admitted to exactly the operations that the document says")
  func userTokens() async throws {
    let document = try await Self.read()
    try await RunningAPI.with(.init(key: "k1")) { api in
      let token = try await api.token(of: "ada", minter: .operatorKey).header
      for path in document["paths"].names {
        for method in document["paths"][path].names.subtracting(["parameters"]) {
          let security = document["paths"][path][method]["security"].elements
          if security.isEmpty { continue }
          // An admitted request is refused as well, because of its parameter.
          let response = try await request(
            method.uppercased(), "\(Self.filled(path))?unknown=1", port: api.port, headers: token, body: [])
          let isAdmitted = security.contains { $0["userToken"] != .null }
          let isRefused = response.json["detail"].text?.hasSuffix("which no user has.") == true
          #expect(isRefused == !isAdmitted, "\(method) \(path)")
        }
      }
    }
  }

  @Test("a request without a key is refused, except by the operations that the document leaves open")
  func openOperations() async throws {
    let document = try await Self.read()
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
    let document = try await Self.read()
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

  @Test(
    "an operation has the responses that follow from its route and its parameters, and its own",
    arguments: [
      ("get /livez", "200 400 413 500 503"),
      ("get /readyz", "200 400 413 429 500 503 507"),
      ("get /v1/places", "200 304 400 401 403 413 414 422 429 500 503"),
      ("get /v1/posts/{id}", "200 304 400 401 403 404 413 429 500 503"),
      ("patch /v1/posts/{id}", "200 400 401 403 404 408 412 413 415 429 500 503"),
      ("delete /v1/posts/{id}", "204 400 401 403 404 412 413 429 500 503"),
      ("post /v1/posts/{id}/comments", "201 400 401 403 404 408 409 413 415 422 429 500 503"),
      ("post /v1/posts/{id}/reactions", "200 202 400 401 403 404 408 409 413 415 422 429 500 503 507"),
      ("patch /v1/uploads/{id}", "201 204 400 401 403 404 409 412 413 415 422 429 500 503 507"),
      ("get /v1/media/{asset}", "200 206 304 307 400 401 403 404 412 413 416 429 500 503"),
      ("post /v1/sessions", "201 400 401 403 404 408 413 415 429 500 503"),
    ])
  func responses(operation: String, statuses: String) async throws {
    let parts = operation.split(separator: " ").map(String.init)
    let responses = try await Self.read()["paths"][parts[1]][parts[0]]["responses"]
    #expect(responses.names.sorted().joined(separator: " ") == statuses)
  }

  @Test("what an operation says itself remains")
  func ownParts() async throws {
    let document = try await Self.read()
    let media = document["paths"]["/v1/media/{asset}"]["get"]["responses"]
    #expect(media["403"]["$ref"] == .string("#/components/responses/URLForbidden"))
    let signIn = document["paths"]["/v1/sessions"]["post"]["responses"]["401"]
    #expect(signIn["headers"].names == ["X-Request-Id", "WWW-Authenticate"])
    let post = document["paths"]["/v1/posts"]["post"]["responses"]["201"]
    #expect(
      post["headers"].names == ["X-Request-Id", "Cache-Control", "Location", "ETag", "Idempotency-Replayed"])
  }

  @Test("the stored document does not say what follows from a route")
  func generatedParts() async throws {
    let routes = try await RunningAPI.with { $0.routes }
    var stored = DocumentRoutes.storedDocument
    var own: [(path: String, method: String, response: OrderedJSON.Member)] = []
    for path in stored["paths"].members {
      for method in path.value.members where method.name != "parameters" {
        #expect(method.value["security"] == .missing, "\(method.name) \(path.name)")
        let responses = method.value["responses"].members
        own += responses.filter { $0.value["$ref"] != .missing }.map { (path.name, method.name, $0) }
        let others = responses.filter { $0.value["$ref"] == .missing }
        stored["paths"][path.name][method.name]["responses"] = .object(others)
      }
    }
    #expect(own.count > 40)
    let paths = OpenAPIDocument(own: stored, problems: []).completed(by: routes)["paths"]
    for (path, method, response) in own {
      let generated = paths[path][method]["responses"][response.name]
      #expect(generated != response.value, "\(method) \(path) \(response.name)")
    }
  }

  @Test("members keep their order, and texts and numbers stay as they are")
  func order() {
    let text = #"{"b":[1.50,-2e3,null,{}],"a":{"c":"\"} ,:\\","d":true,"e":[]},"é":"\u0000 ü"}"#
    #expect(OrderedJSON(Array(text.utf8)).bytes == Array(text.utf8))
    let spaced = "{\n  \"a\": [1, 2],\n  \"b\": {\"c\": \" \"}\n}\n"
    #expect(OrderedJSON(Array(spaced.utf8)).bytes == Array(#"{"a":[1,2],"b":{"c":" "}}"#.utf8))
  }

  /// Returns a path of a template, with an id for each parameter.
  private static func filled(_ template: String) -> String {
    let parts = template.split(separator: "/").map { part in
      part.hasPrefix("{") ? "00000000-0000-7000-8000-000000000000" : part
    }
    return "/" + parts.joined(separator: "/")
  }

  @Test("bytes of an upload that a post awaits may be refused, by PATCH and by the request that stands for it")
  func overriding() async throws {
    let upload = try await Self.read()["paths"]["/v1/uploads/{id}"]
    func errors(_ method: String) -> Set<String> { Set(upload[method]["responses"].names.filter { $0 >= "400" }) }
    #expect(errors("patch").contains("422"))
    #expect(errors("post").isSuperset(of: errors("patch").union(errors("delete"))))
  }

  @Test("every reference resolves")
  func references() async throws {
    let document = try await Self.read()
    for reference in Self.references(in: document) {
      #expect(Self.resolved(.object(["$ref": .string(reference)]), document) != .null, "\(reference)")
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
    (ProblemKind.allCases.map { $0 as any ProblemTable } + [any Room.Type].all.problems).map { kind in
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
  func problems(type: String) async throws {
    let document = try await Self.read()
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
  func unknownProblems() async throws {
    let types = try await Self.read()["components"]["schemas"]["Problem"]["properties"]["type"]["enum"].elements
    #expect(Set(types.compactMap(\.text)) == Set(Self.kinds.keys))
    #expect(try Set(Self.paragraphs.get().keys) == Set(Self.kinds.keys))
  }

  @Test("the document is served without a key, with an entity tag")
  func served() async throws {
    try await RunningAPI.with(.init(key: "k1")) { api in
      let response = try await api.get("/openapi.json")
      #expect(response.status == 200)
      #expect(response.headers["content-type"] == "application/json")
      #expect(
        response.body
          == OpenAPIDocument(own: DocumentRoutes.storedDocument, problems: [any Room.Type].all.problems).completed(
            by: api.routes
          ).bytes)
      let tag = try #require(response.headers["etag"])
      #expect(try await api.get("/openapi.json", headers: [("If-None-Match", tag)]).status == 304)
    }
  }

  private static func resolved(_ value: JSONValue, _ document: JSONValue) -> JSONValue {
    guard let reference = value["$ref"].text else { return value }
    return reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] }
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
