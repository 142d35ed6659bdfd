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

  /// A token service (AWS Security Token Service API Reference, `AssumeRoleWithWebIdentity`). Its nth answer has the keys `key-n`; the
  /// second one is a failure.
  private static let tokens = """
    import http.server, urllib.parse
    class Tokens(http.server.BaseHTTPRequestHandler):
        answers = 0
        def do_POST(self):
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            wanted = {"Action": ["AssumeRoleWithWebIdentity"], "Version": ["2011-06-15"], "RoleArn": ["arn:aws:iam::1:role/a"],
                      "RoleSessionName": ["take5"], "WebIdentityToken": ["t.o=k"]}
            Tokens.answers += 1
            isRight = self.path == "/" and form == wanted and Tokens.answers != 2
            text = f"<R><Result><Credentials><AccessKeyId>key-{Tokens.answers}</AccessKeyId><SecretAccessKey>a+b</SecretAccessKey>"
            text += "<SessionToken>token</SessionToken><Expiration>2027-01-15T08:00:00Z</Expiration></Credentials></Result></R>"
            self.send_response(200 if isRight else 400)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
    server = http.server.HTTPServer(("127.0.0.1", 0), Tokens)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  @Test(
    "a role for a web identity gives keys that are used until five minutes before they expire, and until then if the service is away"
  )
  func webIdentity() async throws {
    let server = try RunningTake5()
    let line = try await server.start(["-c", Self.tokens], program: "/usr/bin/python3")
    let port = try #require(UInt16(line), "\(server.log)")
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/token"
    try Descriptor(writing: file, replacing: true).write(Array("t.o=k\n".utf8))
    let environment = [
      "AWS_ROLE_ARN": "arn:aws:iam::1:role/a", "AWS_WEB_IDENTITY_TOKEN_FILE": file,
      "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(port)",
    ]
    let expiry = 1_800_000_000
    let time = Locked(expiry - 3600)
    let source = S3CredentialSource(environment: environment, now: { time.withLock(\.self) })
    for (now, key) in [
      (expiry - 3600, "key-1"), (expiry - 301, "key-1"), (expiry - 300, "key-1"),
      // The service failed half a minute ago: the keys are used meanwhile.
      (expiry - 271, "key-1"), (expiry - 270, "key-3"),
    ] {
      time.withLock { $0 = now }
      let keys = try await onThread("credentials") { try source.credentials() }
      #expect(keys == S3Credentials(keyID: key, secret: "a+b", sessionToken: "token"), "\(now - expiry)")
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
