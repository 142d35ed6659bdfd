import Definitions
import Kit
import Model
import Platform
import PostgresTesting
import Rooms
import Testing

@testable import take5

/// What prevents a start, by its option or its file: `serve`, `worker` and `config` say the same.
@Suite("What a start reads")
struct ServiceInputsTests {
  /// A mistake: arguments, in which `F` is the folder of the files below.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let status: take5.ExitStatus
    let words: [String]

    var testDescription: String { arguments.joined(separator: " ") }

    init(_ arguments: String, _ status: take5.ExitStatus, _ words: String...) {
      self.arguments = arguments.split(separator: " ").map(String.init)
      self.status = status
      self.words = words
    }
  }

  /// Files and folders of operators, by name.
  private static let files: [String: String] = [
    "broken": "{\n  \"a\": 1\n  \"b\": 2\n}", "list": "[]", "object": "{}", "empty": "", "text": "no JSON at all",
    "provider": #"[{"issuer": "a", "audience": "b", "keys": "F/list"}]"#,
    "typo": #"[{"issuer": "a", "audience": "b", "keys": "F/list", "prefx": "c"}]"#,
    "plain": #"[{"issuer": "a", "audience": "b", "keys": "http://id.example/k"}]"#,
    "account": #"{"type": "user"}"#, "vapid": #"{"subject": "ada", "private_key": "x"}"#,
    "defs-broken/take5-post.json": "{\n  \"name\": \"take5-post\",\n}",
    "defs-list/a.json": "[]", "defs-unknown/a.json": "PHOTO take5-phots", "defs-collection/a.json": "ALBUM album",
    "defs-held/a.json": "HELD", "defs-preset/a.json": "PRESET", "defs-zero/a.json": "ZERO",
    "defs-twice/take5-post.json": "POST", "defs-twice/take5-post.old.json": "POST",
    "defs-clip/a.json": "MARKER take5-post",
    "defs-many/a.json": "ZERO", "defs-many/b.json": "{", "defs-long/a.json": "LONG",
    "kinds-media/a.json": "POST", "kinds-broken/a.json": "{", "kinds-max/a.json": "MAX",
    "kinds-twice/a.json": "ALBUM album", "kinds-twice/b.json": "ALBUM album",
    "post": "POST", "zero": "ZERO", "marker": "MARKER other",
  ]

  static let mistakes: [Mistake] = [
    // Definitions.
    Mistake("--definitions F/none", .configuration, "--definitions", "F/none", "No such file"),
    Mistake("--definitions F/empty", .configuration, "F/empty", "Not a directory"),
    Mistake("--definitions F/defs-broken", .configuration, "take5-post.json", "line 3, column 1", "comma"),
    Mistake("--definitions F/defs-list", .configuration, "a.json", "expected an object, not a list"),
    Mistake("--definitions F/defs-unknown", .configuration, "'take5-phots'", "no built-in definition"),
    Mistake("--definitions F/defs-collection", .configuration, "--collections"),
    Mistake("--definitions F/defs-held", .configuration, "only posts can be held"),
    Mistake("--definitions F/defs-preset", .configuration, "outputs.composed.video.preset: 'quick' is not one of"),
    Mistake("--definitions F/defs-zero", .configuration, "deadline_seconds: 0 is not between 10 and 86400"),
    Mistake("--definitions F/defs-twice", .configuration, "take5-post.json and ", "take5-post.old.json both", "rename"),
    Mistake("--definitions F/defs-clip", .configuration, "inputs: expected front and back"),
    Mistake("--definitions F/defs-many", .configuration, "a.json", "b.json"),
    Mistake("--definitions F/defs-long", .configuration, "outputs.composed.seconds[0]: every moment would be refused"),
    Mistake("--definition F/none", .configuration, "F/none", "No such file"),
    Mistake("--definition F/broken", .configuration, "line 3, column 3", "expected ',' or '}'"),
    Mistake("--definition F/list", .configuration, "expected an object, not a list"),
    Mistake("--definition F/object", .configuration, "name is missing"),
    Mistake("--definition F/zero", .configuration, "deadline_seconds: 0 is not between"),
    Mistake("--definition F/marker", .configuration, "inputs: expected front and back"),
    Mistake("--collections F/none", .configuration, "--collections", "No such file"),
    Mistake("--collections F/kinds-media", .configuration, "it defines clips", "--definitions"),
    Mistake("--collections F/kinds-broken", .configuration, "line 1, column 2"),
    Mistake("--collections F/kinds-max", .configuration, "items: expected a max from 1 to 500"),
    Mistake("--collections F/kinds-twice", .configuration, "a.json and ", "both have the name 'album'"),
    // Users and their identity providers.
    Mistake("--identity-providers F/none", .configuration, "--identity-providers", "cannot be read"),
    Mistake("--identity-providers F/broken", .configuration, "not a JSON list", "line 3, column 3"),
    Mistake("--identity-providers F/list", .configuration, "0 identity providers"),
    Mistake("--identity-providers F/provider", .configuration, "F/list is not a key set", "not a JSON Web Key Set"),
    Mistake("--identity-providers F/typo", .configuration, "unknown 'prefx'"),
    Mistake("--identity-providers F/plain", .configuration, "http:// with an address of this machine"),
    Mistake("--jwt-keys F/none --jwt-issuer a --jwt-audience b", .configuration, "F/none", "cannot be read"),
    Mistake("--jwt-keys F/text --jwt-issuer a --jwt-audience b", .configuration, "F/text is not a key set"),
    Mistake("--jwt-issuer a", .usage, "--jwt-keys and --jwt-audience"),
    Mistake("--jwt-keys http://id.example/k", .usage, "--jwt-keys must be a file"),
    Mistake("--accounts maybe", .usage, "--accounts must be one of off, on"),
    Mistake("--registration-check captcha", .usage, "--registration-check must be https://HOST/PATH"),
    // Keys and secrets.
    Mistake("--api-key-file F/none", .inputMissing, "--api-key-file", "No such file"),
    Mistake("--api-key-file F/empty", .usage, "F/empty is empty"),
    Mistake("--database-file F/none", .inputMissing, "--database-file"),
    Mistake("--database-file F/empty", .usage, "F/empty is empty"),
    Mistake("--database-file F/text", .usage, "postgresql://"),
    Mistake("--database nonsense", .usage, "--database must be a URL"),
    Mistake("--database postgresql:///a --database-file F/text", .usage, "are both set"),
    Mistake("--pooling transaction", .usage, "--pooling requires --database"),
    Mistake("--pooling none", .usage, "--pooling must be one of session, transaction"),
    Mistake("--listen-database postgresql:///a", .usage, "--listen-database requires --database"),
    Mistake("--listen-database-file F/none --database postgresql:///a", .inputMissing, "--listen-database-file"),
    // Notifications.
    Mistake("--apns F/none", .configuration, "--apns", "cannot be read"),
    Mistake("--apns F/text", .configuration, "--apns", "F/text: it is not a JSON object"),
    Mistake("--apns F/object", .configuration, "--apns", "is missing"),
    Mistake("--fcm F/none", .configuration, "--fcm", "cannot be read"),
    Mistake("--fcm F/broken", .configuration, "--fcm", "not a JSON object"),
    Mistake("--fcm F/account", .configuration, "--fcm"),
    Mistake("--web-push F/none", .configuration, "--web-push", "cannot be read"),
    Mistake("--web-push F/list", .configuration, "--web-push", "expected an object, not a list"),
    Mistake("--web-push F/vapid", .configuration, "--web-push"),
    Mistake("--notifications F/none", .configuration, "--notifications", "cannot be read"),
    Mistake("--notifications F/object", .configuration, "--notifications", "is missing"),
    Mistake("--push-certificates F/none", .configuration, "--push-certificates", "F/none"),
    Mistake("--push-certificates F/text", .configuration, "--push-certificates", "certificates in PEM"),
    Mistake("--push-server nonsense", .usage, "--push-server must be https://HOST:PORT"),
    // Notifications would go to Apple and Google.
    Mistake("--push-server http://127.0.0.1:8443", .usage, "--push-server must be https://HOST:PORT"),
    Mistake("--push-server HTTPS://127.0.0.1:8443", .usage, "--push-server must be https://HOST:PORT"),
    Mistake("--push-server https://127.0.0.1:8443/push", .usage, "--push-server must be https://HOST:PORT"),
    Mistake("--public-url nonsense", .usage, "--public-url must be https://HOST"),
    Mistake("--apns F/none --fcm F/none", .configuration, "--apns", "--fcm"),
    // Blobs.
    Mistake("--blobs bucket", .usage, "'bucket' is not a bucket", "s3://BUCKET/PREFIX"),
    Mistake("--blobs-next /srv/blobs", .usage, "'/srv/blobs' is not a bucket"),
    Mistake(
      "--blobs s3://bucket?endpoint=http://127.0.0.1:1 --blob-cacert F/none", .configuration, "--blob-cacert",
      "cannot be read"),
    Mistake(
      "--blobs s3://bucket?endpoint=http://127.0.0.1:1 --blob-cacert F/text", .configuration,
      "F/text has no certificate"),
    Mistake("--blob-cache 1", .usage, "--blob-cache must be an integer from 64 to", "in MiB"),
    // Addresses.
    Mistake("--listen nowhere", .usage, "--listen must be an address"),
    Mistake("--trusted-proxy nginx", .usage, "--trusted-proxy must be addresses"),
    Mistake("--allow-origin https://App.example", .usage, "--allow-origin: 'https://App.example' is not an origin"),
    Mistake("--webhook-permit 10.0.0.0/99", .usage, "--webhook-permit must be hosts"),
    Mistake("--otlp-endpoint localhost:4318", .usage, "--otlp-endpoint must be http://HOST:PORT"),
    // Numbers and words.
    Mistake("--slots many", .usage, "--slots must be an integer from 0 to 256"),
    Mistake("--slots 257", .usage, "--slots must be", "not '257'"),
    Mistake("--look-slots 0", .usage, "--look-slots must be an integer from 1"),
    Mistake("--background-slots -1", .usage, "--background-slots must be"),
    Mistake("--min-free 10GB", .usage, "--min-free must be an integer", "in MiB, not '10GB'"),
    Mistake("--max-database 1.5", .usage, "--max-database must be", "in MiB"),
    Mistake("--media-memory 1", .usage, "--media-memory must be", "in MiB"),
    Mistake("--user-daily-mib 0", .usage, "--user-daily-mib must be", "in MiB"),
    Mistake("--user-daily-posts 0", .usage, "--user-daily-posts must be"),
    Mistake("--lease 0", .usage, "--lease must be a number of seconds"),
    Mistake("--poll 0", .usage, "--poll must be a number of seconds"),
    Mistake("--drain soon", .usage, "--drain must be a number of seconds"),
    Mistake("--grace 1d", .usage, "--grace must be a number of seconds"),
    Mistake("--keep-rejected -1", .usage, "--keep-rejected must be a number of seconds"),
    Mistake("--upload-lifetime 0", .usage, "--upload-lifetime must be a number of seconds"),
    Mistake("--trace-percent 101", .usage, "--trace-percent must be an integer from 0 to 100"),
    Mistake("--sandbox on", .usage, "--sandbox must be one of off, available, required"),
    Mistake("--serve-media bucket", .usage, "--serve-media must be one of service, redirect"),
    Mistake("--unknown-age 18", .usage, "--unknown-age must be one of minor, adult"),
    Mistake("--log-level verbose", .usage, "--log-level must be one of debug, info, warning, error"),
    Mistake("--log-format xml", .usage, "--log-format must be one of"),
    Mistake("--window noon", .usage, "--window must be times and a time zone"),
    Mistake("--key-requests 0 --slots x", .usage, "--key-requests must be", "--slots must be"),
  ]

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-inputs")
    for (name, content) in Self.files {
      let parts = name.split(separator: "/")
      if parts.count == 2 { try Folder.make("\(folder.path)/\(parts[0])") }
      try Descriptor(writing: "\(folder.path)/\(name)", replacing: true)
        .write(Array(try Self.text(content).replacing("F/", with: "\(folder.path)/").utf8))
    }
  }

  /// The JSON that a word of the table stands for.
  private static func text(_ content: String) throws -> String {
    func built(_ name: String) throws -> String {
      String(decoding: try #require(Definitions.documents.first { $0.name == name }).bytes, as: UTF8.self)
    }
    func changed(_ text: String, _ old: String, _ new: String) throws -> String {
      let result = text.replacing(old, with: new, maxReplacements: 1)
      try #require(result != text, "\(old)")
      return result
    }
    let words = content.split(separator: " ").map(String.init)
    switch words.first {
    case "POST": return try built("take5-post")
    case "ZERO": return try changed(built("take5-post"), "\"deadline_seconds\": 120", "\"deadline_seconds\": 0")
    case "PRESET": return try changed(built("take5-post"), "\"superfast\"", "\"quick\"")
    case "LONG": return try changed(built("take5-post"), "[4.5, 5.034]", "[6, 7]")
    case "MARKER": return try changed(built("marker-video"), "\"marker-video\"", "\"\(words[1])\"")
    case "PHOTO": return try changed(built("photo-post"), "\"photo-post\"", "\"\(words[1])\"")
    case "HELD": return try changed(built("reaction"), "\"version\"", "\"moderation\": \"hold\", \"version\"")
    case "ALBUM": return try built("album")
    case "MAX":
      return #"{"name": "trip", "version": 1, "fields": {}, "items": {"of": "post", "max": 0, "fields": {}}}"#
    default: return content
    }
  }

  private func arguments(_ mistake: Mistake, of command: Subcommand) throws -> Arguments {
    try Arguments(
      mistake.arguments.map { $0.replacing("F/", with: "\(folder.path)/") }, of: command, environment: [:])
  }

  /// Expects that failures have the status and the words of a mistake, and say what to do.
  private func expect(_ failures: [CommandFailure], _ mistake: Mistake, _ command: String) {
    let text = failures.flatMap(\.lines).joined(separator: "\n")
    #expect(failures.contains { $0.status == mistake.status }, "\(command): \(text)")
    #expect(failures.allSatisfy { $0.remedy != nil }, "\(command): \(text)")
    for word in mistake.words {
      let word = word.replacing("F/", with: "\(folder.path)/")
      #expect(text.contains(word), "\(command) lacks '\(word)': \(text)")
    }
  }

  private func failures(_ body: () throws(InvalidConfiguration) -> Void) -> [CommandFailure] {
    do throws(InvalidConfiguration) { try body() } catch { return error.failures }
    return []
  }

  @Test(
    "whatever ends a start is found by its check, and both name the value, the file and what to do", arguments: mistakes
  )
  func found(_ mistake: Mistake) throws {
    let served = try arguments(mistake, of: .serve)
    expect(failures { () throws(InvalidConfiguration) in _ = try ServiceInputs(served) }, mistake, "serve")
    let checked = try arguments(mistake, of: .config)
    let options = Subcommand.serviceOptions.filter { $0.placeholder != nil }
    let keys = ConfigurationKeys(of: Subcommand.all)
    expect(ServiceConfiguration.failures(checked, keys, options: options), mistake, "config")
    let names = mistake.arguments.filter { $0.hasPrefix("--") }
    guard names.allSatisfy({ name in Subcommand.worker.options.contains { $0.name == name } }) else { return }
    let worked = try arguments(mistake, of: .worker)
    expect(failures { () throws(InvalidConfiguration) in _ = try WorkerInputs(worked) }, mistake, "worker")
  }

  @Test("a folder of good definitions, and no option at all, are read")
  func good() throws {
    try Folder.make("\(folder.path)/defs")
    try Descriptor(writing: "\(folder.path)/defs/take5-post.json", replacing: true)
      .write(Array(try Self.text("POST").replacing("\"version\": 4", with: "\"version\": 7").utf8))
    try Descriptor(writing: "\(folder.path)/defs/take5-post.json.old", replacing: true).write(Array("{".utf8))
    let read = try ServiceInputs(
      Arguments(["--definitions", "\(folder.path)/defs"], of: .serve, environment: [:]))
    #expect(read.definitions.moment.version == 7)
    _ = try ServiceInputs(Arguments([], of: .serve, environment: [:]))
    _ = try WorkerInputs(Arguments([], of: .worker, environment: [:]))
  }

  @Test("a start has the status that all its failures have, or 78")
  func status() {
    let usage = CommandFailure(.usage, "a")
    #expect(InvalidConfiguration(failures: [usage, usage]).startStatus == .usage)
    #expect(InvalidConfiguration(failures: [usage, CommandFailure(.inputMissing, "b")]).startStatus == .configuration)
  }
}
