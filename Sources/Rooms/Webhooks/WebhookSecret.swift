internal import Crypto
import FoundationEssentials

/// A secret by which an endpoint knows that a message is from this service (standardwebhooks.com).
struct WebhookSecret: Sendable {
  let bytes: [UInt8]

  /// 256 random bits.
  init() {
    var random = SystemRandomNumberGenerator()
    bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The form in which it is given to the endpoint.
  var text: String { "whsec_" + Data(bytes).base64EncodedString() }

  /// The signature of a message.
  func signature(of id: String, _ timestamp: Int, _ body: [UInt8]) -> String {
    let code = HMAC.code(of: Array("\(id).\(timestamp).".utf8) + body, key: bytes)
    return "v1," + Data(code.bytes).base64EncodedString()
  }
}
