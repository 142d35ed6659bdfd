import FoundationEssentials
import Model
import Platform
import PostgresTesting
import Push
import TokenTesting

@testable import Crypto

/// Files of credentials with keys of openssl(1).
struct CredentialsFixture {
  let folder: TemporaryFolder
  let ec: TokenIssuer.Key
  let rsa: TokenIssuer.Key
  private let issuer: TokenIssuer

  init() async throws {
    folder = try TemporaryFolder(prefix: "take5-push")
    issuer = try TokenIssuer()
    ec = try await issuer.ecKey("ABC123DEFG")
    rsa = try await issuer.rsaKey("0123456789abcdef")
  }

  static func pem(_ key: TokenIssuer.Key) throws -> String {
    String(decoding: try Descriptor(reading: key.path).contents(), as: UTF8.self)
  }

  /// Writes a file, and returns its path.
  func write(_ name: String, _ members: [String: String]) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Descriptor(writing: path, replacing: true).write([UInt8](try JSONEncoder().encode(members)))
    return path
  }

  func apns(_ changes: [String: String] = [:], origin: Origin? = nil) throws -> APNs {
    let members = [
      "key_id": "ABC123DEFG", "team_id": "DEF123GHIJ", "topic": "com.example.take5", "key_file": ec.path,
    ]
    return try APNs(file: try write("apns.json", members.merging(changes) { $1 }), origin: origin)
  }

  func fcm(_ changes: [String: String] = [:]) throws -> FCM {
    let members = [
      "type": "service_account", "project_id": "take5-test", "private_key_id": rsa.id, "private_key": try Self.pem(rsa),
      "client_email": "push@take5-test.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
    ]
    return try FCM(file: try write("fcm.json", members.merging(changes) { $1 }))
  }

  /// With the private key of the example in RFC 8291, appendix A.
  func webPush(_ changes: [String: String] = [:]) throws -> WebPush {
    let members = [
      "subject": "mailto:push@example.com", "private_key": "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
    ]
    return try WebPush(file: try write("vapid.json", members.merging(changes) { $1 }))
  }
}

/// A token, verified by libcjose with a key in JSON.
struct VerifiedToken {
  let header: [String: String]
  let claims: [UInt8]

  init(_ token: String, key: String) throws {
    guard let signature = Signature(compact: token), let publicKey = PublicKey(json: Array(key.utf8)),
      signature.isValid(for: publicKey)
    else { throw PushError(.invalidCredentials, "the signature is not valid") }
    header = try JSONDecoder().decode([String: String].self, from: signature.headerJSON)
    claims = signature.payload
  }

  func claims<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSON.decode(type, from: claims) }
}

extension Notification {
  static let sample = Notification(
    kind: "window", title: "Time to film", body: "You have 5 minutes.", badge: 2,
    mediaURL: "https://cdn.example.org/a.jpg", data: ["post": "1"], collapseID: "window-1", expiry: 2_000_000_000)
}

extension PushRequest {
  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  var text: String { String(decoding: body, as: UTF8.self) }
}
