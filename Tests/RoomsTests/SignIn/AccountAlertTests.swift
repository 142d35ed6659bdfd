import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// What an app's back-end learns of accounts, and how much mail strangers cause.
@Suite("Mails about accounts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AccountAlertTests {
  /// The events of a kind, as their data.
  private static func events(_ kind: UserEvent.Kind, _ api: RunningAPI) async throws -> [[String: String]] {
    try await api.pool.run { session in
      try session.execute(
        "SELECT data FROM user_event WHERE kind = $1 ORDER BY created_at, number", .text(kind.rawValue)
      ).map { try $0.json("data") }
    }
  }

  private static func verify(_ bearer: [(String, String)], _ api: RunningAPI) async throws {
    let path = "/v1/accounts/current/verification"
    #expect(try await UserClient.send("POST", path, bearer, nil, api).status == 202)
    let code = try #require(try await events(.verificationRequested, api).last?["code"])
    #expect(try await UserClient.send("PUT", path, bearer, #"{"code":"\#(code)"}"#, api).status == 204)
  }

  @Test("a new session, another password and another address are reported with the verified address that the user had")
  func alerts() async throws {
    try await AccountTests.with { api in
      let body = #"{"user_name":"ada","password":"correct horse","email":"ada@example.org"}"#
      let ada = try UserClient.bearer(try await AccountTests.register(api, body))
      func patch(_ email: String) async throws -> Int {
        try await UserClient.send(
          "PATCH", "/v1/users/me", ada, #"{"email":"\#(email)","former_password":"correct horse"}"#, api
        ).status
      }
      // No user has shown to read the mail of the address.
      #expect(try await AccountTests.signIn(api).status == 201)
      #expect(try await patch("other@example.org") == 200)
      #expect(try await patch("ada@example.org") == 200)
      for kind in [UserEvent.Kind.sessionStarted, .emailChanged] { #expect(try await Self.events(kind, api).isEmpty) }

      try await Self.verify(ada, api)
      let signIn = #"{"user_name":"ada","password":"correct horse","device":"Ada's phone"}"#
      #expect(try await UserClient.send("POST", "/v1/sessions", [], signIn, api).status == 201)
      #expect(
        try await Self.events(.sessionStarted, api) == [
          ["email": "ada@example.org", "user_name": "ada", "device": "Ada's phone"]
        ])
      #expect(try await patch("ADA@example.org") == 200)
      #expect(try await patch("eve@example.org") == 200)
      #expect(
        try await Self.events(.emailChanged, api) == [
          ["email": "ADA@example.org", "user_name": "ada", "new_email": "eve@example.org"]
        ])
      try await Self.verify(ada, api)
      let change = #"{"former_password":"correct horse","password":"battery staple"}"#
      #expect(try await UserClient.send("PUT", "/v1/accounts/current/password", ada, change, api).status == 204)
      #expect(try await Self.events(.passwordChanged, api) == [["email": "eve@example.org", "user_name": "ada"]])
    }
  }

  @Test("accounts that have not verified a mailbox get two mails an hour and six a day to it, and its user gets more")
  func mailbox() async throws {
    try await AccountTests.with { api in
      for index in 0..<6 {
        let email = ["eve@example.org", "EVE@example.org", "eve+\(index)@Example.org"][index % 3]
        let body = #"{"user_name":"u\#(index)","password":"correct horse","email":"\#(email)"}"#
        let bearer = try UserClient.bearer(try await AccountTests.register(api, body))
        let asked = try await UserClient.send("POST", "/v1/accounts/current/verification", bearer, nil, api)
        #expect(asked.status == 202)
      }
      #expect(try await Self.events(.verificationRequested, api).count == 2)
      // Hours later, when no pause holds.
      for _ in 0..<4 {
        try await api.execute(
          """
          WITH counted AS (
            UPDATE mail_count SET asked_at = ARRAY(SELECT asked - interval '61 minutes' FROM unnest(asked_at) AS asked))
          DELETE FROM one_time_code
          """)
        for index in 0..<6 {
          let name = #"{"user_name":"u\#(index)"}"#
          #expect(try await UserClient.send("POST", "/v1/password-resets", [], name, api).status == 202)
        }
        try await api.makeRequestedCodes()
      }
      #expect(try await Self.events(.passwordResetRequested, api).count == 4)
      try await api.execute(
        """
        WITH one AS (UPDATE app_user SET email_verified_at = now() WHERE user_name = 'u0' RETURNING 1)
        DELETE FROM one_time_code
        """)
      for _ in 0..<5 {
        #expect(try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"u0"}"#, api).status == 202)
        try await api.makeRequestedCodes()
        try await api.execute("DELETE FROM one_time_code")
      }
      #expect(try await Self.events(.passwordResetRequested, api).count == 7)
      // A request that a worker finds an hour later is too old.
      try await api.execute("UPDATE mail_count SET asked_at = '{}'")
      #expect(try await UserClient.send("POST", "/v1/password-resets", [], #"{"user_name":"u0"}"#, api).status == 202)
      try await api.execute("UPDATE code_request SET created_at = created_at - interval '1 hour'")
      try await api.makeRequestedCodes()
      #expect(try await Self.events(.passwordResetRequested, api).count == 7)
      #expect(OneTimeCode.mailbox("A+b+c@X.org") == "a@x.org" && OneTimeCode.mailbox("a@b+c.org") == "a@b+c.org")
    }
  }

  @Test("a request for a code, and a try of one, write as much for an unknown name as for one that a user has")
  func sameWork() async throws {
    try await AccountTests.with { api in
      let body = #"{"user_name":"ada","password":"correct horse","email":"ada@example.org"}"#
      _ = try await AccountTests.register(api, body)
      func written(_ body: () async throws -> Void) async throws -> Int {
        let count = """
          SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables
          WHERE relname IN ('code_request', 'one_time_code', 'code_miss', 'mail_count', 'user_event', 'user_event_count')
          """
        func rows() async throws -> Int {
          try await api.pool.run { session in
            try session.execute("SELECT pg_stat_force_next_flush()")
            try session.execute("SELECT pg_stat_clear_snapshot()")
            return try session.execute(Statement(name: "count", text: count)).single().get(0)
          }
        }
        let before = try await rows()
        try await body()
        // Each connection reports what it has written as it goes idle.
        try await until("the database has counted") { try await rows() > before }
        return try await rows() - before
      }
      for (path, method, more) in [
        ("/v1/password-resets", "POST", ""),
        ("/v1/password-resets", "PUT", #","code":"WRONG777","password":"battery staple""#),
      ] {
        var counts: [Int] = []
        for name in ["ada", "unknown"] {
          counts.append(
            try await written {
              _ = try await UserClient.send(method, path, [], #"{"user_name":"\#(name)"\#(more)}"#, api)
            })
        }
        #expect(counts[0] == counts[1] && counts[0] == 1, "\(method)")
      }
    }
  }

  @Test("a password that is guessed first is refused in words, where a user chooses one")
  func common() async throws {
    try await AccountTests.with { api in
      let ada = try UserClient.bearer(try await AccountTests.register(api))
      for password in ["password", "12345678", "Password1", "qwertyuiop", "iloveyou1", "P@ssw0rd", "11111111"] {
        let refused = [
          try await AccountTests.register(api, #"{"user_name":"eve","password":"\#(password)"}"#),
          try await UserClient.send(
            "PUT", "/v1/accounts/current/password", ada,
            #"{"former_password":"correct horse","password":"\#(password)"}"#, api),
        ]
        for response in refused {
          #expect(response.status == 400 && response.json["errors"][0]["field"].text == "password", "\(password)")
          #expect(response.json["errors"][0]["detail"].text?.contains("attackers try first") == true)
        }
      }
    }
  }

  @Test("an operator's program decides on each registration, and one that does not decide permits none")
  func check() async throws {
    let (status, bodies) = (Shared(Status.ok), Shared<[String]>([]))
    let router = Router(
      routes: [
        Route("POST", "/check/{name}", bodyLimit: 10_000, admission: Route.open) { request in
          let body = try await request.body.collect(upTo: 10_000)
          bodies.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
          return Response(status.withLock(\.self))
        }
      ], fallbackAdmission: Route.open)
    try await withServer(router: router) { server in
      var setting = RunningAPI.Setting()
      setting.passwords = try PasswordWork()
      setting.api.registrationCheck = RegistrationCheck("http://127.0.0.1:\(server.port)/check/in?key=1")
      try await RunningAPI.with(setting) { api in
        let body =
          #"{"user_name":"ada","password":"correct horse","email":"ada@example.org","evidence":"an invitation"}"#
        for (code, phrase, expected) in [
          (403, "Forbidden", "registration_refused"), (422, "Unprocessable", "registration_refused"),
          (500, "Error", "registration_undecided"), (404, "Not Found", "registration_undecided"),
          (307, "Redirect", "registration_undecided"), (429, "Too Many", "registration_undecided"),
        ] {
          status.withLock { $0 = Status(code: code, phrase: phrase) }
          let refused = try await AccountTests.register(api, body)
          #expect(UserClient.kind(refused) == expected, "\(code)")
          #expect(refused.status == (expected == "registration_refused" ? 403 : 503))
        }
        status.withLock { $0 = .noContent }
        #expect(try await AccountTests.register(api, body).status == 201)
      }
    }
    #expect(
      bodies.withLock(\.self).last
        == #"{"address":"127.0.0.1","email":"ada@example.org","evidence":"an invitation","user_name":"ada"}"#)
  }
}
