internal import Crypto
import FoundationEssentials
internal import HTTPServer

/// The header fields of RFC 9530 as uploads use them: the SHA-256 of a whole file.
enum ReprDigest {
  private static let name = "Repr-Digest"
  private static let algorithm = "sha-256"

  /// The SHA-256 that a request announces; nil if it announces none. Other algorithms are ignored (RFC 9530, section 3).
  static func sha256(_ headers: HeaderFields) throws(Problem) -> SHA256Digest? {
    // Of members with the same key the last one counts (RFC 9651, section 4.2.2).
    guard headers.bytes(of: name) <= HeaderFields.maxPreferences else {
      throw UploadDialect.invalid(name, "is longer than \(HeaderFields.maxPreferences) bytes")
    }
    guard let value = headers.list(name).compactMap(member).last else { return nil }
    let text = value.prefix { $0 != ";" }.split(separator: " ").joined()
    guard text.count >= 2, text.hasPrefix(":"), text.hasSuffix(":"),
      let bytes = Data(base64Encoded: padded(text.dropFirst().dropLast())),
      let digest = SHA256Digest(bytes: Array(bytes))
    else { throw UploadDialect.invalid(name, "expected sha-256=:BASE64:") }
    return digest
  }

  /// Adds the SHA-256 of a whole upload to a response, if the request asks for it (RFC 9530, section 4).
  static func add(_ digest: SHA256Digest?, to headers: inout HeaderFields, askedBy request: HeaderFields) {
    guard let digest, let weight = request.list("Want-\(name)").compactMap(member).last,
      (weight.prefix { $0 != ";" }).contains(where: { $0 != "0" })
    else { return }
    headers[name] = "\(algorithm)=\(text(of: digest))"
  }

  /// The member of a problem that says which digest is not that of the bytes. The right one stays unsaid: it would help to find
  /// bytes for it.
  static func mismatch(_ digest: SHA256Digest) -> Problem.Member {
    let member: [Problem.Member] = [
      .init(name: "algorithm", value: .string(algorithm)),
      .init(name: "provided-digest", value: .string(text(of: digest))),
      .init(name: "header", value: .string(name)),
    ]
    return .init(name: "mismatching-digests", value: .list([.object(member)]))
  }

  /// The value of a dictionary's member of the algorithm; nil: a member of another one.
  private static func member(_ text: Substring) -> Substring? {
    let parts = text.split(separator: "=", maxSplits: 1)
    return parts.count == 2 && parts[0] == algorithm ? parts[1] : nil
  }

  private static func text(of digest: SHA256Digest) -> String { ":\(Data(digest.bytes).base64EncodedString()):" }

  /// Base64 with the padding that a sender may leave out.
  private static func padded(_ text: Substring) -> String {
    text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
  }
}
