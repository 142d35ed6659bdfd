import HTTPTesting
import PostgresTesting
import Take5Testing
import Testing
import TokenTesting
import WaitTesting

/// Accounts and tokens of an identity provider with the shipped program.
@Suite("Users of a service", .tags(.process))
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
    try await until { try await api.get("/v1/posts", bearer).status != 200 }
    #expect(try await Self.take5(service, "users", "disable", "ada").output.contains("  disabled "))
    #expect(try await signIn(password).status == 403)
    #expect(try await Self.take5(service, "users", "enable", "ada").output.hasSuffix("  active\n"))
    #expect(try await signIn(password).status == 201)
    // An account that has lost its name, as older versions let it: every command takes the id, and one gives a name back.
    try await service.execute("UPDATE app_user SET user_name = NULL WHERE id = '\(user)'")
    #expect(try await Self.take5(service, "users", "list").output.hasPrefix("\(user)  -  created "))
    #expect(try await Self.take5(service, "users", "show", user).output.hasPrefix("\(user)  -  created "))
    let again = try await Self.take5(service, "users", "reset-password", user)
    #expect(again.status == 0 && again.output.hasPrefix("new password of \(user): "), "\(again)")
    let other = #"{"user_name":"bob","password":"correct horse"}"#
    #expect(try await api.send("POST", "/v1/accounts", other).status == 201)
    #expect(try await Self.take5(service, "users", "rename", user, "BOB").status == 65)
    #expect(try await Self.take5(service, "users", "rename", user, "a b").status == 64)
    let renamed = try await Self.take5(service, "users", "rename", user, "ada")
    #expect(renamed.status == 0 && renamed.output.hasPrefix("\(user)  ada  created "), "\(renamed)")
    let word = again.output.split(separator: "\n").first?.split(separator: " ").last.map(String.init)
    #expect(try await signIn(try #require(word)).status == 201)
    #expect(try await Self.take5(service, "users", "rename", "ADA", "Ada.L").output.hasPrefix("\(user)  Ada.L  "))
    #expect(try await Self.take5(service, "users", "rename", "nobody", "x").status == 66)
    for command in ["show", "reset-password", "disable", "enable"] {
      let missing = try await Self.take5(service, "users", command, "carl")
      #expect(missing.status == 66 && missing.errors.contains("'carl'"), "\(missing)")
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
    let wrong = try await Take5Command.run(["serve", "--identity-providers", path, "--data", service.data])
    #expect(wrong.status == 78 && wrong.errors.contains("is not a JSON list"), "\(wrong)")
  }

  @Test("any user is shown, exported as by the API, and deleted after a confirmation, with or without an account")
  func usersWithoutAccount() async throws {
    let service = try await Service(workers: 1, ["--lease", "3"])
    let api = try service.api()
    let ada = try await api.phone(of: "ada")
    let post = try await ada.submit(
      "/v1/posts", [("post", Array(#"{"kind":"photo"}"#.utf8)), ("photo", try StoreCommandTests.photo((9, 99, 9)))])
    #expect(post["status"]?.text == "ready", "\(post.status)")
    // Eve has commented, and has neither a profile nor a post.
    let comments = "/v1/posts/\(try #require(post["id"]?.text))/comments"
    #expect(try await api.send("POST", comments, #"{"author":"eve","text":"Nice"}"#).status == 201)
    let shown = try await Self.take5(service, "users", "show", "ADA")
    #expect(shown.status == 0 && shown.output.hasPrefix("ada  ada  created "), "\(shown)")
    #expect(shown.output.contains("no account") && shown.output.contains("posts     1"), "\(shown)")
    #expect(try await Self.take5(service, "users", "show", "eve").output.hasPrefix("eve  -  no profile  no account"))
    #expect(try await Self.take5(service, "users", "show", "adda").status == 66)

    let archive = "\(service.folder.path)/ada.zip"
    let exported = try await Self.take5(service, "users", "export", "ada", "-o", archive)
    #expect(exported.status == 0 && exported.output.contains("wrote \(archive)"), "\(exported)")
    let program = "import sys, zipfile; print('\\n'.join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))"
    let names = try await Take5Command.run(["-c", program, archive], program: "/usr/bin/python3").output
    #expect(names.contains("profile.json\n") && names.contains("posts/1.json\n"), "\(names)")
    #expect(names.contains("/source.photo.jpg\n") || names.contains("/source.photo."), "\(names)")
    #expect(try await Self.take5(service, "users", "export", "ada", "-o", archive).status == 74)
    let piped = try await Self.take5(service, "users", "export", "ada", "-o", "-")
    #expect(piped.status == 0 && piped.output.hasPrefix("PK"), "\(piped.status ?? -1)")
    #expect(
      piped.errors.contains("wrote everything of ada") && piped.errors.contains("to standard output"), "\(piped.errors)"
    )
    #expect(try await Self.take5(service, "users", "export", "ada").status == 64)
    #expect(try await Self.take5(service, "users", "export", "adda", "-o", "\(archive)2").status == 66)

    let asked = try await Self.take5(service, "users", "delete", "ada")
    #expect(asked.status == 64 && asked.errors.contains("1 post,") && asked.errors.contains("--yes"), "\(asked)")
    #expect(try await service.count("SELECT count(*) FROM post") == 1)
    #expect(try await Self.take5(service, "users", "delete", "adda", "--yes").status == 66)
    for user in ["eve", "ada"] {
      let deleted = try await Self.take5(service, "users", "delete", user, "--yes")
      #expect(deleted.status == 0 && deleted.output.contains("take5 jobs show "), "\(deleted)")
      let amount = user == "ada" ? "1 post, 0 images, 0 comments" : "0 posts, 0 images, 1 comment,"
      #expect(deleted.output.contains(amount), "\(deleted)")
    }
    try await until { try await service.count("SELECT count(*) FROM forgetting") == 0 }
    #expect(try await service.count("SELECT count(*) FROM post") == 0)
    #expect(try await Self.take5(service, "users", "show", "ada").status == 66)
    #expect(try await Self.take5(service, "users", "show", "eve").status == 66)
    try await service.stop()
  }
}
