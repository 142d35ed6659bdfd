internal import HTTPServer
internal import Model

/// Completes the OpenAPI document: `openapi.json` has what only an operation itself says, and the rest follows from its route and its
/// parameters. What an operation says remains.
struct OpenAPIDocument {
  /// The stored document.
  let own: OrderedJSON
  /// The kinds of problems that single rooms have.
  let problems: [any ProblemTable]

  /// The served document.
  func completed(by routes: [Route]) -> OrderedJSON {
    let routes = Dictionary(grouping: routes, by: \.template)
    var components = own["components"]
    components["responses"] = components["responses"].map(response)
    let types = ServerProblem.allCases.map(\.type) + ProblemKind.allCases.map(\.type) + problems.map { $0.type }
    components["schemas"]["Problem"]["properties"]["type"]["enum"] = .array(Set(types).sorted().map { .string($0) })
    for name in including { components["schemas"][name]["properties"]["included"] = reference("schemas", "Included") }
    var document = own
    document["paths"] = own["paths"].map { path($0.value, of: routes[$0.name] ?? []) }
    document["components"] = components
    return document
  }

  /// The names of the schemas of the records and the pages that operations with `include` return.
  private var including: [String] {
    let operations = own["paths"].members.flatMap { $0.value.members.map(\.value) }.filter {
      $0["parameters"].elements.contains(reference("parameters", "Include"))
    }
    let schemas = operations.map { $0["responses"]["200"]["content"]["application/json"]["schema"] }
    return own["components"]["schemas"].members.map(\.name).filter { schemas.contains(reference("schemas", $0)) }
  }

  /// A response that operations share: a problem, unless it has no body.
  private func response(_ own: OrderedJSON.Member) -> OrderedJSON {
    var response = own.value
    response["headers"] = response["headers"].adding([reference("X-Request-Id")])
    if own.name != "NoContent" && own.name != "NotModified" {
      response["content"]["application/problem+json"]["schema"] = reference("schemas", "Problem")
    }
    return response
  }

  private func path(_ own: OrderedJSON, of routes: [Route]) -> OrderedJSON {
    let actsAsUser = routes.allSatisfy { $0.documentedAccess.scopes?.isSubset(of: Scope.ofUsers) == true }
    let common = ["RequestId"] + (actsAsUser ? ["ActingUser"] : [])
    let parameters = own["parameters"].elements
    var path = own
    path["parameters"] = .array(common.map { reference("parameters", $0) } + parameters)
    for route in routes {
      let method = route.method.lowercased()
      path[method] = operation(own[method], of: route, parameters + own[method]["parameters"].elements)
    }
    return path
  }

  private func operation(_ own: OrderedJSON, of route: Route, _ parameters: [OrderedJSON]) -> OrderedJSON {
    let access = route.documentedAccess
    let parameters = parameters.map(resolved)
    func takes(_ name: String) -> Bool { parameters.contains { $0["name"] == .string(name) } }
    let isRepeatable = takes("Idempotency-Key")
    let takesID = parameters.contains {
      $0["in"] == .string("path") && $0["schema"] == reference("schemas", "ID")
    }
    let takesBody = own["requestBody"] != .missing
    let needsCredential = access.security != .array([])
    let responses = own["responses"]
    let isKept = route.method == "GET" && isKept(responses["200"])
    let rules: [(code: String, name: String, applies: Bool)] = [
      ("204", "NoContent", !responses.members.contains { $0.name < "300" }),
      ("304", "NotModified", takes("Range") || isKept),
      ("400", "BadRequest", true),
      ("401", "Unauthorized", needsCredential),
      ("403", "Forbidden", needsCredential),
      ("404", "NotFound", takesID),
      ("408", "RequestTimeout", takesBody && !route.isResumable),
      ("409", "Conflict", isRepeatable),
      ("412", "PreconditionFailed", takes("If-Match")),
      ("413", "ContentTooLarge", true),
      ("415", "UnsupportedMediaType", takesBody),
      ("416", "RangeNotSatisfiable", takes("Range")),
      ("422", access.isUpload ? "UnprocessableContent" : "KeyReused", isRepeatable),
      ("429", "TooManyRequests", !access.isUnlimited),
      ("500", "InternalServerError", true),
      ("503", "ServiceUnavailable", true),
      ("507", "InsufficientStorage", access.isUpload),
    ]
    let common = rules.filter(\.applies).map { rule in
      OrderedJSON.Member(name: rule.code, value: reference("responses", rule.name))
    }
    var operation = own
    operation["security"] = access.security
    if isKept && !takes("If-None-Match") {
      operation["parameters"] = .array(own["parameters"].elements + [reference("parameters", "IfNoneMatch")])
    }
    operation["responses"] = responses.map { response in
      guard response.value["$ref"] == .missing else { return response.value }
      var headers = [reference("X-Request-Id")]
      if response.name < "300" {
        if response.value["content"] != .missing { headers.append(reference("Cache-Control")) }
        if isKept { headers.append(reference("ETag")) }
        if isRepeatable {
          let version = OrderedJSON.Member(name: "ETag", value: reference("headers", "Version"))
          headers += [reference("Location"), version, reference("Idempotency-Replayed")]
        }
      }
      var completed = response.value
      completed["headers"] = completed["headers"].adding(headers)
      return completed
    }.adding(common)
    return operation
  }

  /// Whether clients keep what GET returns: JSON, but for uploads, whose protocols forbid it, and the present state of the service.
  private func isKept(_ response: OrderedJSON) -> Bool {
    let schema = response["content"]["application/json"]["schema"]
    let isPresent = ["Health", "Operations"].contains { schema == reference("schemas", $0) }
    return schema != .missing && !isPresent && response["headers"]["Upload-Offset"] == .missing
  }

  private func reference(_ kind: String, _ name: String) -> OrderedJSON {
    .object([.init(name: "$ref", value: .string("#/components/\(kind)/\(name)"))])
  }

  private func reference(_ header: String) -> OrderedJSON.Member {
    .init(name: header, value: reference("headers", header))
  }

  private func resolved(_ parameter: OrderedJSON) -> OrderedJSON {
    own["components"]["parameters"].members.first { reference("parameters", $0.name) == parameter }?.value ?? parameter
  }
}

extension Route {
  fileprivate var documentedAccess: RouteAccess { access as? RouteAccess ?? .unlimited }
}

extension RouteAccess {
  fileprivate var isUnlimited: Bool { if case .unlimited = self { true } else { false } }
  fileprivate var isUpload: Bool { if case .upload = self { true } else { false } }

  /// The scopes that an API key needs; nil if none has the access.
  fileprivate var scopes: Set<Scope>? {
    switch self {
    case .unlimited, .anyone, .userToken: nil
    case .key(let scopes), .upload(let scopes), .keyOrTicket(let scopes, _), .keyOrLink(let scopes),
      .media(let scopes):
      scopes
    }
  }

  /// The credentials that a client may have, each with the scopes that it needs.
  fileprivate var security: OrderedJSON {
    func credential(_ name: String, _ scopes: [String] = []) -> OrderedJSON {
      .object([.init(name: name, value: .array(scopes.map { .string($0) }))])
    }
    let own: [OrderedJSON] =
      switch self {
      case .unlimited, .anyone, .key, .upload: []
      case .userToken: [credential("userToken")]
      case .keyOrTicket: [credential("ticket")]
      case .keyOrLink: [credential("link")]
      case .media: [credential("signature"), .missing]
      }
    guard let scopes else { return .array(own) }
    let users = scopes.isSubset(of: Scope.ofUsers) ? [credential("userToken")] : []
    return .array([credential("key", scopes.map(\.rawValue).sorted())] + users + own)
  }
}
