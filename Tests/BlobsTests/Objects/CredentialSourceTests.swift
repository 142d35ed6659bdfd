import HTTPClient
import HTTPServer
import HTTPTesting
import Platform
import PostgresTesting
import Take5Testing
import Testing

@testable import Blobs

@Suite("Keys of an object store")
struct CredentialSourceTests {
  @Test("the environment comes first, then the profile of a file")
  func order() throws {
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/credentials"
    try Descriptor(writing: file, replacing: true).write(
      Array("[default]\naws_access_key_id = c\naws_secret_access_key=d\n\n[ other ]\naws_access_key_id=e\n".utf8))
    var environment = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SHARED_CREDENTIALS_FILE": file]
    func keys() throws -> S3Credentials { try S3CredentialSource(environment: environment).credentials() }
    #expect(try keys() == S3Credentials(keyID: "a", secret: "b"))
    environment["AWS_SECRET_ACCESS_KEY"] = nil
    #expect(try keys() == S3Credentials(keyID: "c", secret: "d"))
    for (name, value) in [("AWS_PROFILE", "other"), ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")] {
      environment[name] = value
      let error = #expect(throws: S3CredentialSource.Missing.self) { try keys() }
      #expect(error?.description.contains(value) == true)
    }
  }

  /// The metadata service of a machine, as the Amazon EC2 User Guide describes version 2: a request without the token of a session
  /// gets a 401. Its nth answer has the keys `key-n`.
  private static let metadata = """
    import http.server, json
    class Metadata(http.server.BaseHTTPRequestHandler):
        answers = 0
        def answer(self, status, text=""):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
        def do_PUT(self):
            lifetime = int(self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", 0))
            isValid = self.path == "/latest/api/token" and 1 <= lifetime <= 21600
            self.answer(200, "session") if isValid else self.answer(400)
        def do_GET(self):
            roles = "/latest/meta-data/iam/security-credentials/"
            if self.headers.get("X-aws-ec2-metadata-token") != "session":
                self.answer(401)
            elif self.path == roles:
                self.answer(200, "media\\n")
            elif self.path == roles + "media":
                Metadata.answers += 1
                self.answer(200, json.dumps({
                    "Code": "Success", "LastUpdated": "2026-11-25T12:00:00Z", "Type": "AWS-HMAC",
                    "AccessKeyId": f"key-{Metadata.answers}", "SecretAccessKey": "secret", "Token": "token",
                    "Expiration": "2027-01-15T08:00:00Z"}))
            else:
                self.answer(404)
    server = http.server.HTTPServer(("127.0.0.1", 0), Metadata)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  @Test("the metadata service of the machine comes last; its keys are used until five minutes before they expire")
  func metadata() async throws {
    let server = try RunningTake5()
    let line = try await server.start(["-c", Self.metadata], program: "/usr/bin/python3")
    let port = try #require(UInt16(line), "\(server.log)")
    // 2027-01-15 08:00 UTC
    let expiry = 1_800_000_000
    let time = Locked(expiry - 3600)
    let source = S3CredentialSource(
      environment: [:], metadata: ServerAddress(host: "127.0.0.1", port: port), now: { time.withLock(\.self) })
    for (now, key) in [
      (expiry - 3600, "key-1"), (expiry - 301, "key-1"), (expiry - 300, "key-2"), (expiry + 1, "key-3"),
    ] {
      time.withLock { $0 = now }
      let keys = try await onThread("credentials") { try source.credentials() }
      #expect(keys == S3Credentials(keyID: key, secret: "secret", sessionToken: "token"), "\(now - expiry)")
    }
  }

  @Test("a machine without metadata, and one without a role, have no keys")
  func missing() async throws {
    try await withServer(router: Router(routes: [])) { server in
      let source = S3CredentialSource(
        environment: [:], metadata: ServerAddress(host: "127.0.0.1", port: server.port))
      await #expect(throws: S3CredentialSource.Missing.self) {
        _ = try await onThread("credentials") { try source.credentials() }
      }
    }
    // Nothing listens on this port of the loopback interface.
    let source = S3CredentialSource(environment: [:], metadata: ServerAddress(host: "127.0.0.1", port: 1))
    await #expect(throws: S3CredentialSource.Missing.self) {
      _ = try await onThread("credentials") { try source.credentials() }
    }
  }
}
