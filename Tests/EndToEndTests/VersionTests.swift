import Glibc
import HTTPClient
import MediaFixtures
import Platform
import Take5Testing
import Testing

@Suite("Versions", .tags(.process), .serialized)
struct VersionTests {
  @Test("the program has the version of the manifest, and it is the newest release in CHANGELOG.md")
  func version() async throws {
    let line = try #require(
      try Document("Package.swift").text.split(separator: "\n").first { $0.hasPrefix("let version = ") })
    let version = try #require(line.split(separator: "\"").last)
    let command = try await Take5Command.run(["version"])
    #expect(command.output.split(separator: "\n").first == "take5 \(version)")
    let releases = try Document("CHANGELOG.md").text.split(separator: "\n").filter { $0.hasPrefix("## [") }
    #expect(releases.first { !$0.hasPrefix("## [Unreleased]") }?.hasPrefix("## [\(version)] - ") == true)
    // Semantic Versioning 2.0.0, item 2 and item 9.
    let parts = version.split(separator: "-", maxSplits: 1)[0].split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3 && parts.allSatisfy { Int($0).map { "\($0)" } == String($0) }, "\(version)")
  }

  // The schema of a later version, as a service and workers of this version find it while machines are upgraded.
  @Test("a service and a worker continue next to a newer schema, and new ones start on it")
  func newerSchema() async throws {
    let service = try await Service(workers: 0)
    let worker = try await service.worker()
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    #expect(try await service.submitAndWait(front: front, back: back).status == 0)
    // Migrations only add: columns with a constant default or none, tables, and rows of the list of migrations. Each table is
    // altered in a transaction of its own: one that holds the locks of all could be in a deadlock with a worker's claim.
    try await service.execute(
      """
      DO $$
      DECLARE name text;
      BEGIN
        FOR name IN SELECT format('%I', relname) FROM pg_class
          WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
        LOOP
          EXECUTE format('ALTER TABLE %s ADD COLUMN newer_text text, ADD COLUMN newer_number int NOT NULL DEFAULT 7', name);
          COMMIT;
        END LOOP;
      END $$
      """)
    try await service.execute(
      """
      CREATE TABLE newer (id bigint PRIMARY KEY);
      INSERT INTO schema_migration (version, name) VALUES (99, 'newer'), (9999, 'newer');
      """)

    // The processes of this version, with statements that they prepared before.
    #expect(try await service.submitAndWait(front: front, back: back).status == 0)
    #expect(try await service.get("/v1/posts").status == 200)
    // One that starts later.
    let second = try await service.worker()
    #expect(await second.waitForLog("worker started"))
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified)")
    for process in [worker, second] {
      await process.send(signal: SIGTERM)
      #expect(await process.wait() == 0)
      for message in ["cached plan", "an attempt failed", "no job could be claimed"] {
        #expect(!process.log.contains(message), "\(process.log)")
      }
    }
    try await service.stop()
  }
}
