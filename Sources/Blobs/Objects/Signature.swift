internal import Crypto
import Glibc

/// The keys by which a client signs its requests.
package struct S3Credentials: Sendable, Hashable {
  package let keyID: String
  package let secret: String
  /// Of temporary keys; nil: the keys have none.
  package let sessionToken: String?

  package init(keyID: String, secret: String, sessionToken: String? = nil) {
    self.keyID = keyID
    self.secret = secret
    self.sessionToken = sessionToken
  }
}

/// A time of day in the forms that signatures have, in UTC.
struct SigningTime: Sendable, Hashable {
  /// `20130524T000000Z`
  let text: String

  var date: Substring { text.prefix(8) }

  /// - Parameter seconds: since 1970-01-01 UTC.
  init(seconds: Int) {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    strftime(&buffer, buffer.count, "%Y%m%dT%H%M%SZ", &parts)
    text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Signature Version 4 of requests to an S3-compatible store (Amazon S3 API Reference, "Authenticating Requests (AWS Signature
/// Version 4)").
struct RequestSigner: Sendable {
  static let algorithm = "AWS4-HMAC-SHA256"

  let credentials: S3Credentials
  let region: String

  /// The signed part of a request.
  struct Parts: Sendable {
    var method: String
    /// Percent-encoded.
    var path: String
    /// Names and values that are not encoded.
    var query: [(name: String, value: String)] = []
    /// All of them are signed.
    var headers: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits.
    var bodyHash: String
  }

  /// Returns the header fields of a request: the given ones, and the signature's.
  ///
  /// - Parameter host: the value of the field `Host`.
  func signed(_ parts: Parts, host: String, at time: SigningTime) -> [(name: String, value: String)] {
    var parts = parts
    parts.headers += [("host", host), ("x-amz-content-sha256", parts.bodyHash), ("x-amz-date", time.text)]
    if let token = credentials.sessionToken { parts.headers.append(("x-amz-security-token", token)) }
    let names = Self.sorted(parts.headers).map(\.name).joined(separator: ";")
    let value =
      "\(Self.algorithm) Credential=\(credentials.keyID)/\(scope(time)),SignedHeaders=\(names),"
      + "Signature=\(signature(parts, at: time))"
    return parts.headers + [("Authorization", value)]
  }

  /// Returns the query of a URL that admits to a GET request without a credential.
  ///
  /// - Parameters:
  ///   - query: what the request says besides.
  ///   - seconds: how long the URL is valid.
  func presigned(
    path: String, query: [(name: String, value: String)] = [], host: String, seconds: Int, at time: SigningTime
  ) -> String {
    var query =
      query + [
        ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.keyID)/\(scope(time))"),
        ("X-Amz-Date", time.text), ("X-Amz-Expires", "\(seconds)"), ("X-Amz-SignedHeaders", "host"),
      ]
    if let token = credentials.sessionToken { query.append(("X-Amz-Security-Token", token)) }
    let parts = Parts(
      method: "GET", path: path, query: query, headers: [("host", host)], bodyHash: "UNSIGNED-PAYLOAD")
    return Self.canonical(query) + "&X-Amz-Signature=\(signature(parts, at: time))"
  }

  private func scope(_ time: SigningTime) -> String { "\(time.date)/\(region)/s3/aws4_request" }

  private func signature(_ parts: Parts, at time: SigningTime) -> String {
    let request = Self.canonical(parts)
    let text = [Self.algorithm, time.text, scope(time), SHA256.digest(of: Array(request.utf8)).hex]
      .joined(separator: "\n")
    var key = Array("AWS4\(credentials.secret)".utf8)
    for part in [String(time.date), region, "s3", "aws4_request"] {
      key = HMAC.code(of: Array(part.utf8), key: key).bytes
    }
    return HMAC.code(of: Array(text.utf8), key: key).hex
  }

  static func canonical(_ parts: Parts) -> String {
    let headers = sorted(parts.headers)
    return [
      parts.method, parts.path, canonical(parts.query),
      headers.map { "\($0.name):\($0.value)\n" }.joined(), headers.map(\.name).joined(separator: ";"), parts.bodyHash,
    ].joined(separator: "\n")
  }

  private static func sorted(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
    headers.map { ($0.name.lowercased(), $0.value) }.sorted { $0.0 < $1.0 }
  }

  /// The query as it is signed and sent: encoded, and in the order of the names.
  static func canonical(_ query: [(name: String, value: String)]) -> String {
    query.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }
      .joined(separator: "&")
  }

  /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
  ///
  /// - Parameter kept: other bytes that stay, such as the slashes of a path.
  static func encoded(_ text: String, keeping kept: String = "") -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(kept)".utf8)
    let bytes = text.utf8.flatMap { byte in
      plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
