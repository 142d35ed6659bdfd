package import HTTPClient

/// A bucket and a prefix in it, with the store that has them, and how it is to keep objects:
/// `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&style=path|host&class=NAME&encryption=AES256|aws:kms&kms-key=ID]`.
package struct S3Location: Sendable, Hashable, CustomStringConvertible {
  /// How requests name the bucket.
  package enum Style: String, Sendable {
    /// In the path, as stores without a name for each bucket want.
    case path
    /// In the host.
    case host
  }

  package let bucket: String
  /// Without slashes at its ends; it may be empty.
  package let prefix: String
  package let endpoint: ServerAddress
  package let region: String
  package let style: Style
  /// The header fields of a request that makes an object.
  let keeping: [(name: String, value: String)]

  package static func == (one: S3Location, other: S3Location) -> Bool { one.identity == other.identity }
  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
  private var identity: [String] { ["\(self)", region, style.rawValue] + keeping.flatMap { [$0.name, $0.value] } }

  /// The reason why a text is not a location.
  package struct Invalid: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  package init(_ text: String) throws(Invalid) {
    guard text.hasPrefix("s3://") else { throw Invalid(description: "it does not begin with s3://") }
    let parts = text.dropFirst(5).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    bucket = String(path[0])
    guard 3...63 ~= bucket.utf8.count, bucket.utf8.allSatisfy(Self.isInBucketName) else {
      throw Invalid(description: "'\(bucket)' is not the name of a bucket")
    }
    let trimmed = (path.count > 1 ? path[1] : "").split(separator: "/").joined(separator: "/")
    guard trimmed.utf8.allSatisfy({ Self.isInBucketName($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "_") })
    else { throw Invalid(description: "the prefix has other characters than lower-case letters, digits and -._/") }
    prefix = trimmed
    var options: [Substring: String] = [:]
    for option in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
      let pair = option.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, Self.options.contains(pair[0]), pair[1].utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
        throw Invalid(
          description:
            "'\(option)' is none of endpoint=URL, region=NAME, style=path|host, class=NAME, encryption=NAME and kms-key=ID"
        )
      }
      options[pair[0]] = String(pair[1])
    }
    region = options["region"] ?? "us-east-1"
    let url = options["endpoint"] ?? "https://s3.\(region).amazonaws.com"
    guard let endpoint = ServerAddress(url: url) else {
      throw Invalid(description: "the endpoint '\(url)' is not http://HOST[:PORT] or https://HOST[:PORT]")
    }
    self.endpoint = endpoint
    // A store with an endpoint of its own has rarely a name for each bucket.
    let standard: Style = options["endpoint"] == nil ? .host : .path
    guard let style = options["style"].map({ Style(rawValue: $0) }) ?? standard else {
      throw Invalid(description: "the style is path or host")
    }
    self.style = style
    guard options["kms-key"] == nil || options["encryption"]?.hasPrefix("aws:kms") == true else {
      throw Invalid(description: "kms-key belongs to encryption=aws:kms")
    }
    keeping = [
      ("x-amz-storage-class", "class"), ("x-amz-server-side-encryption", "encryption"),
      ("x-amz-server-side-encryption-aws-kms-key-id", "kms-key"),
    ].compactMap { (name: String, option: Substring) in options[option].map { (name, $0) } }
  }

  private static let options: Set<Substring> = ["endpoint", "region", "style", "class", "encryption", "kms-key"]

  private static func isInBucketName(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// The server that requests are sent to.
  var server: ServerAddress {
    switch style {
    case .path: endpoint
    case .host: ServerAddress(scheme: endpoint.scheme, host: "\(bucket).\(endpoint.host)", port: endpoint.port)
    }
  }

  /// The path of an object, or of the bucket if the key is empty.
  func path(of key: String) -> String {
    let full = style == .path ? "/\(bucket)" + (key.isEmpty ? "" : "/\(key)") : "/\(key)"
    return RequestSigner.encoded(full, keeping: "/")
  }

  /// The key of a name below the prefix.
  func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }

  package var description: String { "s3://\(bucket)\(prefix.isEmpty ? "" : "/\(prefix)") at \(endpoint)" }
}
