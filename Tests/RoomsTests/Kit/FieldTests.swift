import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Fields that a definition names", .tags(.database, .network), .timeLimit(.minutes(60)))
struct FieldTests {
  static let setting = RunningAPI.Setting(
    fields: RecordFields(
      posts: [
        "genre": FieldDefinition(type: .choice, choices: ["jazz", "techno"], required: true, searchable: true),
        "starts_at": FieldDefinition(type: .time, searchable: true),
        "price": FieldDefinition(type: .number, searchable: true), "note": FieldDefinition(type: .text, max: 5),
        "day": FieldDefinition(type: .date), "free": FieldDefinition(type: .boolean, searchable: true),
      ],
      users: [
        "city": FieldDefinition(type: .text, max: 10, required: true, searchable: true),
        "shoe": FieldDefinition(type: .number, searchable: true), "motto": FieldDefinition(type: .text),
      ]))

  static func send(
    _ api: RunningAPI, _ method: String, _ path: String, as user: String = "ada", _ body: String? = nil
  ) async throws -> ClientResponse {
    try await UserClient.send(method, path, UserClient.backend + [("Take5-User", user)], body, api)
  }

  /// Stores a post of Ada's without media.
  static func post(_ api: RunningAPI, _ fields: String, _ more: String = "") async throws -> ClientResponse {
    try await send(api, "POST", "/v1/posts", #"{"kind":"marker","title":"Here","fields":\#(fields)\#(more)}"#)
  }

  static func named(_ refused: ClientResponse) -> [String] {
    refused.status == 400
      ? refused.json["errors"].elements.compactMap { $0["field"].text } : ["status \(refused.status)"]
  }

  /// Requires of the archive of Ada what a condition in Python says.
  private static func expect(_ condition: String, _ api: RunningAPI) async throws {
    let folder = try TemporaryFolder()
    let archive = try await api.get("/v1/users/ada/export", headers: UserClient.backend)
    try Descriptor(writing: "\(folder.path)/export.zip", replacing: true).write(archive.body)
    let program = """
      import sys, zipfile, json
      z = zipfile.ZipFile(sys.argv[1])
      read = lambda name: json.loads(z.read(name))
      assert \(condition)
      """
    #expect(try await ExportTests.python(program, "\(folder.path)/export.zip") == 0, "\(condition)")
  }

  @Test("a post has the fields of its definition, in JSON, in a form, in a patch and in the archive of its author")
  func posts() async throws {
    try await UserClient.with(Self.setting) { api in
      let created = try await Self.post(
        api,
        #"{"genre":"jazz","starts_at":"2026-12-01T22:00:00+01:00","price":7.5,"note":"Dämm","day":"2026-12-01","free":false}"#
      )
      #expect(created.status == 201, "\(created.text)")
      let path = try #require(created.headers["location"])
      var fields: [String: JSONValue] = [
        "genre": .string("jazz"), "starts_at": .string("2026-12-01T21:00:00.000Z"), "price": .number(7.5),
        "note": .string("Dämm"), "day": .string("2026-12-01"), "free": .boolean(false),
      ]
      #expect(created.json["fields"] == .object(fields))
      let before = try await Self.send(api, "GET", path)
      #expect(before.json["fields"] == .object(fields))
      let changed = try await Self.send(api, "PATCH", path, #"{"fields":{"price":8,"note":null,"genre":"techno"}}"#)
      fields["price"] = .number(8)
      fields["note"] = nil
      fields["genre"] = .string("techno")
      #expect(changed.json["fields"] == .object(fields), "\(changed.text)")
      #expect(changed.headers["etag"] != before.headers["etag"])
      #expect(changed.json["updated_at"].text ?? "" > before.json["updated_at"].text ?? "")
      #expect(try await Self.send(api, "PATCH", path, #"{"title":"There"}"#).json["fields"] == .object(fields))
      let listed = try await Self.send(api, "GET", "/v1/posts").json["items"].elements
      #expect(listed.map { $0["fields"] } == [.object(fields)])
      var form = MultipartForm()
      let parts = [("kind", "marker"), ("author", "ada"), ("title", "Form"), ("fields", #"{"genre":"jazz"}"#)]
      for (name, value) in parts { form.add(name, Array(value.utf8)) }
      #expect(
        try await api.submit(form, headers: UserClient.backend).json["fields"] == .object(["genre": .string("jazz")]))
      var whole = MultipartForm()
      whole.add("post", Array(#"{"kind":"marker","author":"ada","title":"Form","fields":{"genre":"jazz"}}"#.utf8))
      #expect(
        try await api.submit(whole, headers: UserClient.backend).json["fields"] == .object(["genre": .string("jazz")]))
      try await Self.expect(
        "[f['fields']['price'] for f in read('posts/1.json') if 'price' in f['fields']] == [8]", api)
    }
  }

  @Test("a field that is required, of another type or unknown is refused by its name")
  func refused() async throws {
    try await UserClient.with(Self.setting) { api in
      let created = try #require(try await Self.post(api, #"{"genre":"jazz"}"#).headers["location"])
      let wrong = [
        ("{}", ["fields.genre"]), ("null", ["fields.genre"]), ("[]", ["fields"]),
        (#"{"genre":"pop","note":"longer","price":"7","day":"2026-02-30"}"#, ["day", "genre", "note", "price"]),
        (#"{"genre":null,"starts_at":"tomorrow","free":"yes","more":1}"#, ["free", "genre", "starts_at", "more"]),
      ]
      for (fields, names) in wrong {
        let names = names.map { $0.hasPrefix("fields") ? $0 : "fields.\($0)" }
        #expect(try await Self.named(Self.post(api, fields)) == names, "\(fields)")
      }
      let missing = try await Self.send(api, "POST", "/v1/posts", #"{"kind":"marker","title":"Here"}"#)
      #expect(Self.named(missing) == ["fields.genre"])
      for change in [#"{"genre":null}"#, "null"] {
        #expect(try await Self.named(Self.send(api, "PATCH", created, #"{"fields":\#(change)}"#)) == ["fields.genre"])
      }
      var form = MultipartForm()
      let parts = [("kind", "marker"), ("author", "ada"), ("title", "Form"), ("fields", "jazz")]
      for (name, value) in parts { form.add(name, Array(value.utf8)) }
      #expect(Self.named(try await api.submit(form, headers: UserClient.backend)) == ["fields"])
      #expect(try await api.storedCount() == 1)
    }
  }

  @Test("a user has the fields of the definition, at registration, in PUT and PATCH, for others and in the archive")
  func users() async throws {
    var setting = Self.setting
    setting.passwords = try PasswordWork()
    try await UserClient.with(setting) { api in
      #expect(try await Self.named(Self.send(api, "PUT", "/v1/users/ada", #"{"name":"Ada"}"#)) == ["fields.city"])
      let wrong = #"{"fields":{"city":"far too long","shoe":true,"x":1}}"#
      let names = ["fields.city", "fields.shoe", "fields.x"]
      #expect(try await Self.named(Self.send(api, "PUT", "/v1/users/ada", wrong)) == names)
      let put = try await Self.send(api, "PUT", "/v1/users/ada", #"{"fields":{"city":"Köln","shoe":38}}"#)
      #expect(put.json["fields"] == .object(["city": .string("Köln"), "shoe": .number(38)]), "\(put.text)")
      #expect(
        try await Self.send(api, "PATCH", "/v1/users/ada", #"{"name":"Ada"}"#).json["fields"] == put.json["fields"])
      let patched = try await Self.send(api, "PATCH", "/v1/users/ada", #"{"fields":{"shoe":null}}"#)
      #expect(patched.json["fields"] == .object(["city": .string("Köln")]), "\(patched.text)")
      #expect(try await Self.named(Self.send(api, "PATCH", "/v1/users/ada", #"{"fields":null}"#)) == ["fields.city"])
      let seen = try await Self.send(api, "GET", "/v1/users/ada", as: "bob")
      #expect(seen.json["fields"] == .object(["city": .string("Köln")]))
      try await Self.expect("read('profile.json')['fields'] == {'city': 'Köln'}", api)
      let account = #""user_name":"grace","password":"correct horse""#
      func registered(_ members: String) async throws -> ClientResponse {
        try await UserClient.send("POST", "/v1/accounts", [], "{\(members)}", api)
      }
      #expect(try await Self.named(registered(account)) == ["fields.city"])
      let user = try await registered(account + #","fields":{"city":"Rome"}"#)
      #expect(user.status == 201, "\(user.text)")
      let found = try await Self.send(api, "GET", "/v1/users?query=grace").json["items"].elements
      #expect(found.map { $0["fields"] } == [.object(["city": .string("Rome")])])
    }
  }

  @Test("without a definition a post has no fields")
  func undefined() async throws {
    try await UserClient.with { api in
      let (created, refused) = (try await Self.post(api, "{}"), try await Self.post(api, #"{"genre":"jazz"}"#))
      #expect(created.json["fields"] == .object([:]))
      #expect(Self.named(refused) == ["fields.genre"])
    }
  }
}
