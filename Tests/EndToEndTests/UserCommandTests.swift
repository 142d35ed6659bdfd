import HTTPTesting
import PostgresTesting
import Take5Testing
import Testing
import TokenTesting

/// Accounts and tokens of an identity provider with the shipped program.
@Suite("Users of a service", .tags(.process), .serialized)
struct UserCommandTests {
  private static func take5(_ service: Service, _ arguments: String...) async throws -> Take5Command {
    try await Take5Command.run(arguments + ["--data", service.data])
  }

  @Test("operators list, show, disable and enable accounts and reset passwords; no secret is in the log")
  func accounts() async throws {
    let service = try await Service(workers: 0, ["--accounts", "on"])
    let api = try service.api()
    func signIn(_ password: String) async throws -> API.Response {
      try await api.send("POST", "/v1/sessions", #"{"user_name":"ada","password":"\#(password)"}"#)
    }
    let registered = try await api.send(
      "POST", "/v1/accounts", #"{"user_name":"Ada","password":"correct horse","email":"ada@example.org"}"#)
    #expect(registered.status == 201)
    let (user, token) = (try #require(registered["user"]?.text), try #require(registered["token"]?.text))
    #expect(try await signIn("wrong horse").status == 401)
    for arguments in [["users", "list"], ["users", "show", "ADA"]] {
      let shown = try await Take5Command.run(arguments + ["--data", service.data])
      #expect(shown.status == 0 && shown.output.hasPrefix("\(user)  Ada  created "), "\(shown)")
      #expect(!shown.output.contains("argon2"))
    }
    let reset = try await Self.take5(service, "users", "reset-password", "ada")
    #expect(reset.status == 0, "\(reset)")
    let password = try #require(
      reset.output.split(separator: "\n").first?.split(separator: " ").last.map(String.init))
    #expect(try await signIn("correct horse").status == 401)
    #expect(try await signIn(password).status == 201)
    let bearer = [("Authorization", "Bearer \(token)")]
    // The command is another process: the token is refused within seconds.
    while try await api.get("/v1/posts", bearer).status == 200 {}
    #expect(try await Self.take5(service, "users", "disable", "ada").output.contains("  disabled "))
    #expect(try await signIn(password).status == 403)
    #expect(try await Self.take5(service, "users", "enable", "ada").output.hasSuffix("  active\n"))
    #expect(try await signIn(password).status == 201)
    for command in ["show", "reset-password", "disable", "enable"] {
      let missing = try await Self.take5(service, "users", command, "bob")
      #expect(missing.status == 66 && missing.errors.contains("'bob'"), "\(missing)")
    }
    try await service.stop()
    for secret in ["correct horse", "wrong horse", password, token, "argon2", "ada@example.org"] {
      #expect(!service.process.log.contains(secret), "\(secret)")
    }
  }

  @Test("a service accepts tokens of the identity provider whose key set is a file, and logs none")
  func identityProvider() async throws {
    let folder = try TemporaryFolder(prefix: "take5-keys")
    let issuer = try TokenIssuer()
    let key = try await issuer.rsaKey("a")
    let path = try TokenIssuer.write(TokenIssuer.keySet([key]), in: folder)
    let service = try await Service(
      workers: 0, ["--jwt-keys", path, "--jwt-issuer", "https://id.example", "--jwt-audience", "take5"])
    let api = try service.api()
    func status(_ audience: String) async throws -> (Int, String) {
      let claims = #"{"iss":"https://id.example","aud":"\#(audience)","sub":"ada","exp":4000000000}"#
      let token = try await issuer.token(claims, key)
      return (try await api.get("/v1/posts", [("Authorization", "Bearer \(token)")]).status, token)
    }
    let (valid, token) = try await status("take5")
    #expect(valid == 200)
    #expect(try await status("other").0 == 401)
    #expect(try await api.get("/v1/posts").status == 401)
    try await service.stop()
    #expect(!service.process.log.contains(token) && !service.process.log.contains("eyJ"))
    let incomplete = try await Take5Command.run(["serve", "--jwt-keys", path, "--data", service.data])
    #expect(incomplete.status == 64 && incomplete.errors.contains("--jwt-issuer and --jwt-audience"), "\(incomplete)")
  }
}
