import Foundation

extension Take5Client {
  /// The method of a request.
  ///
  /// ```swift
  /// let places = try await client.send(.get, "/v1/places", query: ["query": "tower"])
  /// ```
  public enum Method: String, Sendable, CaseIterable {
    /// Reads.
    case get = "GET"
    /// Creates, or starts what is not the same when it is repeated.
    case post = "POST"
    /// Stores a record in place of the one before.
    case put = "PUT"
    /// Changes members of a record.
    case patch = "PATCH"
    /// Deletes.
    case delete = "DELETE"
  }

  /// Sends any request of the API that this client has no call for, as the user who is signed in.
  ///
  /// The session is renewed as for all calls. GET, PUT and DELETE are repeated if that may succeed; POST and PATCH are sent once, so
  /// that nothing is created twice.
  ///
  /// ```swift
  /// let trip = try await client.send(.post, "/v1/collections", body: ["kind": "itinerary", "name": "Lisbon"])
  /// let own = try await client.send(.get, "/v1/collections", query: ["kind": "itinerary", "include": "author"])
  /// ```
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - path: The path, such as `/v1/collections`, whose ids are percent-encoded.
  ///   - query: The parameters, which this call percent-encodes; a name may be repeated.
  ///   - body: The JSON of the request.
  ///   - version: The `ETag` of the version that the request applies to, as `If-Match`; `*` is any version.
  /// - Returns: The JSON of the response; `null` if it has no body.
  /// - Throws: A problem with the code `client` if the path is none.
  @discardableResult
  public func send(
    _ method: Method, _ path: String, query: KeyValuePairs<String, String> = [:], body: JSONValue? = nil,
    version: String? = nil
  ) async throws(Take5Error) -> JSONValue {
    // Another beginning would send the credential to another host.
    guard path.utf8.first == UInt8(ascii: "/"), path.unicodeScalars.allSatisfy(Request.pathCharacters.contains) else {
      throw .problem(
        .client(
          "The path is invalid", "\"\(path)\" is not a path of the service.",
          remedy: "Begin it with /v1, percent-encode its ids, and give parameters as the query."))
    }
    var request = Request(method.rawValue, path, query: query.map { (name: $0.key, value: $0.value) }, json: body)
    if let version { request.headers["If-Match"] = version }
    let response = try await connection.response(request)
    return response.body.isEmpty ? .null : try JSONCoding.value(response.body)
  }
}

extension JSONValue {
  /// A member of an object; nil if it has none of the name, or is not an object.
  public subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The text; nil if it is none.
  public var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The values of a list; nil if it is none.
  public var list: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}
