import Model

/// A signed JSON Web Token in the compact serialization (RFC 7515, section 7.1).
enum JSONWebToken {
  private struct Header: Encodable {
    let alg: String
    let kid: String?
    let typ = "JWT"
  }

  /// Signs claims.
  ///
  /// - Parameter key: its kind is the algorithm: RS256 or ES256.
  static func signed(_ claims: some Encodable, with key: PrivateKey, id: String? = nil) -> String {
    let parts = [json(Header(alg: key.isP256 ? "ES256" : "RS256", kid: id)), json(claims)].map(Base64URL.text)
    let message = parts.joined(separator: ".")
    return message + "." + Base64URL.text(of: key.signature(of: Array(message.utf8)))
  }
}

/// The JSON of a value of this target. Every such value can be encoded.
func json(_ value: some Encodable) -> [UInt8] {
  do { return try JSON.encode(value) } catch { fatalError("\(type(of: value)) has no JSON: \(error)") }
}
