package import HTTPServer

/// Reads request bodies that are one JSON object.
package enum JSONBody {
  /// The maximum length of a body in bytes.
  package static let maxBytes = 64 << 10
  /// The same for routes.
  package static let limit = Int64(maxBytes)

  /// Whether the media type of the body is exactly `application/json`.
  package static func isPlain(_ request: Request) -> Bool { type(of: request) == "application/json" }

  private static func type(of request: Request) -> String {
    let type = (request.headers["Content-Type"] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
    return Substring(type).trimmingBlanks.lowercasedASCII
  }

  /// Reads the fields of the body; throws a problem if it is not a JSON object.
  package static func fields(of request: Request) async throws -> [String: JSONValue] {
    try await content(of: request).fields
  }

  /// The same of a body that may be left out, which has no fields then.
  package static func fieldsIfAny(of request: Request) async throws -> [String: JSONValue] {
    if request.headers["Content-Type"] == nil, try await request.body.collect(upTo: maxBytes).isEmpty { return [:] }
    return try await fields(of: request)
  }

  /// Reads the body and its fields; throws a problem if it is not a JSON object.
  package static func content(of request: Request) async throws -> (bytes: [UInt8], fields: [String: JSONValue]) {
    let type = type(of: request)
    guard ["application/json", "application/merge-patch+json", "application/geo+json"].contains(type) else {
      throw ProblemKind.notJSON.problem("The request's Content-Type is \(type.isEmpty ? "missing" : type).")
    }
    let bytes = try await request.body.collect(upTo: maxBytes)
    return (bytes, try fields(of: bytes, part: "body"))
  }

  /// The maximum depth of nesting. Without a limit, a body of a few kilobytes could overflow the stack.
  static let maxDepth = 16
  /// The maximum number of values in a body. An area with the most corners has less than half of them.
  static let maxValues = 10_000

  /// Decodes the fields of a JSON object; `part` is its name in error messages.
  package static func fields(of bytes: [UInt8], part: String) throws(Problem) -> [String: JSONValue] {
    let value: JSONValue
    do throws(JSONReader.Refusal) {
      value = try JSONReader.value(of: bytes, maxDepth: maxDepth, maxValues: maxValues)
    } catch {
      throw ProblemKind.malformedJSON.problem(
        "The \(part) is not valid JSON.", errors: [FieldError(part, error.detail)])
    }
    guard case .object(let fields) = value else {
      throw ProblemKind.malformedJSON.problem(
        "The \(part) is not a JSON object.", errors: [FieldError(part, "expected an object")])
    }
    return fields
  }
}

/// Any JSON value. It is the first step of decoding a body whose invalid fields are all reported.
package enum JSONValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  package var isNumber: Bool { if case .number = self { true } else { false } }
}
