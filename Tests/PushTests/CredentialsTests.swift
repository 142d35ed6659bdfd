import Platform
import PostgresTesting
import Push
import Testing
import TokenTesting

@Suite("Files of credentials")
struct CredentialsTests {
  @Test("a file that cannot be used is refused, by a message that names the member and repeats no secret")
  func refused() async throws {
    let credentials = try await CredentialsFixture()
    let pem = try CredentialsFixture.pem(credentials.ec)
    let cases: [(String, () throws -> any Provider)] = [
      ("key_id", { try credentials.apns(["key_id": "SECRET"]) }),
      ("team_id", { try credentials.apns(["team_id": "SECRET/456"]) }),
      ("topic", { try credentials.apns(["topic": "SECRET \n"]) }),
      ("environment", { try credentials.apns(["environment": "SECRET"]) }),
      ("key_file", { try credentials.apns(["key_file": credentials.rsa.path]) }),
      ("cannot be read", { try credentials.apns(["key_file": "missing.p8"]) }),
      ("type", { try credentials.fcm(["type": "SECRET"]) }),
      ("project_id", { try credentials.fcm(["project_id": "SECRET/.."]) }),
      ("private_key_id", { try credentials.fcm(["private_key_id": "SECRET\r"]) }),
      ("private_key", { try credentials.fcm(["private_key": pem]) }),
      ("private_key", { try credentials.fcm(["private_key": "-----BEGIN PRIVATE KEY-----\nSECRET\n"]) }),
      ("client_email", { try credentials.fcm(["client_email": "SECRET\""]) }),
      ("token_uri", { try credentials.fcm(["token_uri": "https://SECRET.example.org/token"]) }),
      ("subject", { try credentials.webPush(["subject": "SECRET"]) }),
      ("private_key", { try credentials.webPush(["private_key": "SECRET"]) }),
      ("private_key", { try credentials.webPush(["private_key": String(repeating: "_", count: 43)]) }),
      ("key_id", { try APNs(file: try credentials.write("empty.json", ["SECRET": "SECRET"])) }),
    ]
    for (name, read) in cases {
      let error = #expect(throws: PushError.self, "\(name)") { _ = try read() }
      let text = error.map { "\($0)" } ?? ""
      #expect(error?.code == .invalidCredentials && text.contains(name) && !text.contains("SECRET"), "\(text)")
      #expect(!text.contains("BEGIN"))
    }
  }

  @Test("text that is not JSON is not repeated, and a key with a password asks for none")
  func malformed() async throws {
    let credentials = try await CredentialsFixture()
    let path = "\(credentials.folder.path)/bad.json"
    try Descriptor(writing: path, replacing: true).write(Array("SECRET{".utf8))
    let error = #expect(throws: PushError.self) { try WebPush(file: path) }
    #expect(error?.description == "\(path): it is not a JSON object: line 1, column 1")
    // By openssl genpkey -aes256.
    let encrypted =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg=\n"
      + "-----END ENCRYPTED PRIVATE KEY-----\n"
    #expect(throws: PushError.self) { try credentials.fcm(["private_key": encrypted]) }
  }

  @Test("the environment of a file names Apple's server, and the key's path is relative to the file")
  func environments() async throws {
    let credentials = try await CredentialsFixture()
    try Descriptor(writing: "\(credentials.folder.path)/key.p8", replacing: true).write(
      Array(try CredentialsFixture.pem(credentials.ec).utf8))
    let device = Device.apns("00")
    #expect(try credentials.apns(["key_file": "key.p8"]).origin(of: device)?.host == "api.push.apple.com")
    let development = try credentials.apns(["environment": "development"])
    #expect(development.origin(of: device)?.host == "api.sandbox.push.apple.com")
  }
}
