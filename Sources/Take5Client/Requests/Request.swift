import Foundation

/// A request to the service, before it has a credential.
struct Request: Sendable {
  var method: String
  var path: String
  var query: [(name: String, value: String)]
  var headers: [String: String] = [:]
  var body: Data?
  var contentType: String?
  /// The Idempotency-Key, which makes a repetition of a POST harmless.
  var key: String?
  /// Whether it is sent without a credential.
  var isOpen: Bool
  /// The user as whom it is sent; nil: who is signed in.
  var user: String?
  /// Whether a repetition is harmless.
  var isSafe: Bool
  /// How often it is repeated, if a repetition is harmless and may succeed.
  var retries = 3
  /// The seconds without a byte after which it is given up: the service answers within 50.
  var timeout: TimeInterval = 90

  init(
    _ method: String, _ path: String, query: [(name: String, value: String)] = [], json: JSONValue? = nil,
    key: String? = nil, isOpen: Bool = false, isSafe: Bool = false
  ) {
    (self.method, self.path, self.query, self.key, self.isOpen) = (method, path, query, key, isOpen)
    self.isSafe = isSafe || key != nil || ["GET", "HEAD", "PUT", "DELETE"].contains(method)
    guard let json else { return }
    body = JSONCoding.data(json)
    contentType = "application/json"
  }

  /// A path with escaped ids: an id is a text of the app.
  static func path(_ segments: String...) -> String {
    segments.map { "/" + ($0.addingPercentEncoding(withAllowedCharacters: unreserved) ?? $0) }.joined()
  }

  /// The characters that have no meaning in a URL (RFC 3986, section 2.3).
  static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The characters of a path whose segments are escaped (RFC 3986, section 3.3).
  static let pathCharacters = unreserved.union(CharacterSet(charactersIn: "/%:@!$&'()*+,;="))

  /// Path and query.
  var target: String {
    guard !query.isEmpty else { return path }
    let pairs = query.map { pair in
      (pair.name.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "") + "="
        + (pair.value.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "")
    }
    return path + "?" + pairs.joined(separator: "&")
  }
}

/// A response with a status from 200 to 299.
struct Response: Sendable {
  var status: Int
  var headers: [String: String]
  var body: Data

  /// A header field, in any case.
  func header(_ name: String) -> String? { headers[name.lowercased()] }
}
