internal import Crypto
package import HTTPServer

/// The API key that every request needs once one is configured (RFC 6750, section 2.1).
package struct BearerKey: Sendable {
  // Digests are compared, not keys: equal in length and meaningless to who could time the comparison.
  private let digest: SHA256Digest

  package init(_ key: String) { digest = SHA256.digest(of: Array(key.utf8)) }

  /// Refuses a head that does not carry the key.
  package func admit(_ headers: HeaderFields) throws(Problem) {
    let parts = (headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
    let isBearer = parts.count == 2 && parts[0].lowercased() == "bearer"
    guard isBearer, isKey(parts[1]) else {
      throw ProblemKind.unauthorized.problem(
        isBearer ? "The bearer token is not the service's API key." : "The request has no bearer token.",
        headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
    }
  }

  /// Takes the same time wherever the two differ.
  private func isKey(_ text: Substring) -> Bool {
    let other = SHA256.digest(of: Array(text.drop { $0 == " " }.utf8))
    return zip(digest.bytes, other.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
