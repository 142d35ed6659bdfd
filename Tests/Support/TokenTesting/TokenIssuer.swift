import Platform
package import PostgresTesting
import Take5Testing

/// An identity provider of a test, whose keys and signatures are made by openssl(1).
package struct TokenIssuer: Sendable {
  /// A pair of keys.
  package struct Key: Sendable {
    /// Its name in the key set and in the headers of tokens.
    package let id: String
    /// The path of the private key, in PEM.
    package let path: String
    /// The public key, as a member of a key set.
    package let json: String
    /// The public key in PEM.
    package let publicPEM: [UInt8]
  }

  /// How a token is signed; the header says so unless it is given.
  package enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    /// With the public key as the shared secret.
    case hs256 = "HS256"
    case none
  }

  private let folder: TemporaryFolder

  package init() throws { folder = try TemporaryFolder(prefix: "take5-issuer") }

  /// Makes an RSA key.
  package func rsaKey(_ id: String, bits: Int = 2048) async throws -> Key {
    let path = newPath()
    try await run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-out", path])
    let modulus = try await run(["rsa", "-in", path, "-noout", "-modulus"])
    let digits = modulus.split(separator: "=").last.map { $0.filter(\.isHexDigit) } ?? ""
    let n = Self.base64URL(Self.bytes(hex: digits))
    return Key(
      id: id, path: path, json: #"{"kty":"RSA","use":"sig","kid":"\#(id)","n":"\#(n)","e":"AQAB"}"#,
      publicPEM: try await publicPEM(path))
  }

  /// Makes a key of the curve P-256.
  package func ecKey(_ id: String) async throws -> Key {
    let path = newPath()
    let der = "\(path).der"
    try await run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
    try await run(["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", der])
    // The structure ends with the two coordinates of the point.
    let point = try Descriptor(reading: der).contents().suffix(64)
    let (x, y) = (Self.base64URL(Array(point.prefix(32))), Self.base64URL(Array(point.suffix(32))))
    return Key(
      id: id, path: path, json: #"{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}"#,
      publicPEM: try await publicPEM(path))
  }

  // Two keys may have the same id.
  private func newPath() -> String { "\(folder.path)/\(UInt64.random(in: 0 ..< .max)).pem" }

  private func publicPEM(_ path: String) async throws -> [UInt8] {
    try await run(["pkey", "-in", path, "-pubout", "-out", "\(path).public"])
    return try Descriptor(reading: "\(path).public").contents()
  }

  /// The key set with these keys.
  package static func keySet(_ keys: [Key]) -> [UInt8] {
    Array(#"{"keys":[\#(keys.map(\.json).joined(separator: ","))]}"#.utf8)
  }

  /// Writes a key set into a folder, and returns its path.
  package static func write(_ keySet: [UInt8], in folder: TemporaryFolder) throws -> String {
    let path = "\(folder.path)/keys.json"
    try Descriptor(writing: path, replacing: true).write(keySet)
    return path
  }

  /// Returns a token with these claims, as JSON.
  ///
  /// - Parameter header: the whole header; nil: one with the algorithm and the id of the key.
  package func token(
    _ claims: String, _ key: Key, _ algorithm: Algorithm = .rs256, header: String? = nil
  ) async throws -> String {
    let header = header ?? #"{"alg":"\#(algorithm.rawValue)","typ":"JWT","kid":"\#(key.id)"}"#
    let signed = "\(Self.base64URL(Array(header.utf8))).\(Self.base64URL(Array(claims.utf8)))"
    guard algorithm != .none else { return "\(signed)." }
    // Tokens may be made at the same time.
    let work = try TemporaryFolder(prefix: "take5-token")
    let (input, output) = ("\(work.path)/input", "\(work.path)/signature")
    try Descriptor(writing: input, replacing: true).write(Array(signed.utf8))
    let options: [String] =
      switch algorithm {
      case .rs256, .es256: ["-sign", key.path]
      case .ps256: ["-sign", key.path, "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]
      case .hs256: ["-mac", "HMAC", "-macopt", "hexkey:\(Self.hex(key.publicPEM))", "-binary"]
      case .none: []
      }
    try await run(["dgst", "-sha256"] + options + ["-out", output, input])
    let bytes = try Descriptor(reading: output).contents()
    return "\(signed).\(Self.base64URL(algorithm == .es256 ? Self.fixedLength(bytes) : bytes))"
  }

  /// The two numbers of an ECDSA signature in DER, with 32 bytes each (RFC 7518, section 3.4).
  private static func fixedLength(_ der: [UInt8]) -> [UInt8] {
    var rest = der.dropFirst(2)
    var result: [UInt8] = []
    while rest.count > 2 {
      let length = Int(rest[rest.startIndex + 1])
      let number = rest.dropFirst(2).prefix(length)
      result += [UInt8](repeating: 0, count: max(0, 32 - length)) + number.suffix(32)
      rest = rest.dropFirst(2 + length)
    }
    return result
  }

  @discardableResult
  private func run(_ arguments: [String]) async throws -> String {
    let result = try await Take5Command.run(arguments, program: "/usr/bin/openssl")
    guard result.status == 0 else { throw OpenSSLFailure(errors: result.errors) }
    return result.output
  }

  /// Encodes bytes without padding (RFC 4648, section 5).
  package static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0...group.count { text.append(alphabet[value >> (18 - 6 * index) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
  }
}

/// openssl(1) failed.
struct OpenSSLFailure: Error {
  let errors: String
}
