internal import Crypto
import FoundationEssentials
internal import HTTPServer

/// The header fields of RFC 9530 as uploads use them: the SHA-256 of a whole file.
enum ReprDigest {
  private static let name = "Repr-Digest"
  private static let algorithm = "sha-256"

  /// The SHA-256 that a request announces; nil if it announces none. Other algorithms are ignored (RFC 9530, section 3).
  static func sha256(_ headers: HeaderFields) throws(Problem) -> SHA256Digest? {
    for member in headers.list(name) {
      let parts = member.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == algorithm else { continue }
      let value = parts[1]
      guard value.count >= 2, value.hasPrefix(":"), value.hasSuffix(":"),
        let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())),
        let digest = SHA256Digest(bytes: Array(bytes))
      else { throw UploadDialect.invalid(name, "expected sha-256=:BASE64:") }
      return digest
    }
    return nil
  }

  /// Adds the SHA-256 of a whole upload to a response, if the request asks for it (RFC 9530, section 4).
  static func add(_ digest: SHA256Digest?, to headers: inout HeaderFields, askedBy request: HeaderFields) {
    guard let digest, request.list("Want-\(name)").contains(where: { $0.hasPrefix("\(algorithm)=") }) else { return }
    headers[name] = "\(algorithm)=:\(Data(digest.bytes).base64EncodedString()):"
  }
}
