/// The header fields of the operator's that each message to an endpoint has. The values may be secrets: no response, no
/// list and no log has them.
enum WebhookHeaders {
  static let maxCount = 10
  /// Of the names and values together, in bytes.
  static let maxBytes = 8 << 10
  /// What stands for a value in a response.
  static let hidden = "***"

  /// What the service sets itself, or what says where a request ends and how it is passed on.
  private static let reserved: Set = [
    "connection", "content-length", "content-type", "expect", "host", "keep-alive", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
  ]

  /// What is wrong with header fields; nil if nothing is.
  static func problem(with headers: [String: String]) -> String? {
    guard headers.count <= maxCount else { return "has more than \(maxCount) names" }
    guard headers.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= maxBytes else {
      return "has more than \(maxBytes) bytes of names and values"
    }
    var names: Set<String> = []
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      guard isToken(name) else { return "has a name that is not a token (RFC 9110, section 5.6.2)" }
      let lowercased = name.lowercased()
      guard names.insert(lowercased).inserted else { return "has the name \(name) twice" }
      if reserved.contains(lowercased) || ["webhook-", "proxy-"].contains(where: lowercased.hasPrefix) {
        return "has the name \(name), which the service or the connection uses itself"
      }
      guard isValue(value) else {
        return "needs for \(name) a text of visible ASCII characters, with spaces between them alone"
      }
      // A client that sends back what a response shows would replace the value by it.
      if value == hidden { return "has for \(name) what stands for a value that is not shown; send the value" }
    }
    return nil
  }

  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func isValue(_ value: String) -> Bool {
    let blank = UInt8(ascii: " ")
    return !value.isEmpty && value.utf8.first != blank && value.utf8.last != blank
      && value.utf8.allSatisfy { $0 >= blank && $0 < 0x7F }
  }
}
