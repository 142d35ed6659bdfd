import FoundationEssentials
internal import HTTPServer

/// A JSON object that is a request's whole body.
enum JSONBody {
  /// The most bytes of one.
  static let most = 64 << 10

  /// Whether a request says that its body is JSON, and nothing more particular.
  static func isPlain(_ request: Request) -> Bool { type(of: request) == "application/json" }

  private static func type(of request: Request) -> String {
    (request.headers["Content-Type"] ?? "").prefix { $0 != ";" }.lowercased().split(separator: " ").joined()
  }

  /// Reads the fields of the object; throws a problem when it is none.
  static func fields(of request: Request) async throws -> [String: JSONValue] {
    let type = type(of: request)
    guard ["application/json", "application/merge-patch+json", "application/geo+json"].contains(type) else {
      throw ProblemKind.notJSON.problem("The request's Content-Type is \(type.isEmpty ? "missing" : type).")
    }
    return try fields(of: try await request.body.collect(upTo: most), part: "body")
  }

  /// Reads the fields of an object.
  static func fields(of bytes: [UInt8], part: String) throws(Problem) -> [String: JSONValue] {
    let value: JSONValue
    do {
      value = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    } catch {
      throw ProblemKind.malformedJSON.problem(
        "The \(part) cannot be read as JSON.", errors: [FieldError(part, "is not valid JSON in UTF-8")])
    }
    guard case .object(let fields) = value else {
      throw ProblemKind.malformedJSON.problem(
        "The \(part) is JSON, but not an object.", errors: [FieldError(part, "expected an object")])
    }
    return fields
  }

  /// A problem that names every wrong field.
  static func problem(_ errors: [FieldError]) -> Problem {
    ProblemKind.invalidFields.problem(
      "\(errors.count == 1 ? "One field is" : "\(errors.count) fields are") wrong: "
        + errors.map { "\($0.field) \($0.detail)" }.joined(separator: "; ") + ".", errors: errors)
  }
}
