import FoundationEssentials
import Glibc
import HTTPTesting
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Broken pages of the database", .tags(.process), .timeLimit(.minutes(60)))
struct BrokenTableTests {
  private let folder: TemporaryFolder
  private var data: String { "\(folder.path)/data" }

  init() throws { folder = try TemporaryFolder(prefix: "take5-pages") }

  private func take5(_ arguments: String...) async throws -> Take5Command {
    try await Take5Command.run(arguments + ["--data", data])
  }

  @Test(
    "verify --deep names the table with a page that the disk has changed; once it was read, verify and doctor report it"
  )
  func page() async throws {
    #expect(try await take5("init").status == 0)
    let row = "INSERT INTO window_schedule VALUES (true, '18:00-18:05 UTC', now(), 300)"
    let set = try await Take5Command.run(["database", "--data", data, "--", "psql", "-c", row])
    #expect(set.status == 0, "\(set.errors)")
    let whole = try await take5("verify", "--deep", "--json")
    #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
    let checked = try JSONDecoder().decode(API.Value.self, from: Data(whole.output.utf8))["checked"]
    #expect(checked?["checksums"] == .boolean(true) && (checked?["tables"]?.number ?? 0) > 40)

    let path = try await Take5Command.run(
      ["database", "--data", data, "--", "psql", "-Atc", "SELECT pg_relation_filepath('window_schedule')"])
    let file = "\(data)/postgres/data/\(path.output.trimmingPrefix(" ").filter { !$0.isNewline })"
    let opened = open(file, O_WRONLY)
    try #require(opened >= 0, "\(file)")
    // The row, at the end of the page.
    try Descriptor(owning: opened).write([UInt8](repeating: 0xA5, count: 8), at: 8192 - 16)

    // Nothing else reads this table.
    #expect(try await take5("verify").status == 0)
    let broken = try await take5("verify", "--deep", "--json")
    #expect(broken.status == 1, "\(broken.errors)")
    let findings = try JSONDecoder().decode(API.Value.self, from: Data(broken.output.utf8))["findings"]?.items ?? []
    #expect(findings.map { $0["code"]?.text } == ["table_broken"])
    #expect(findings.first?["object"]?["id"]?.text == "window_schedule")
    #expect(findings.first?["detail"]?.text?.contains("invalid page") == true)

    // The server has counted the page.
    let counted = try await take5("verify", "--json")
    #expect(counted.status == 1, "\(counted.errors)")
    let count = try JSONDecoder().decode(API.Value.self, from: Data(counted.output.utf8))["findings"]?.items ?? []
    #expect(count.map { $0["code"]?.text } == ["checksum_failures"])
    let doctor = try await take5("doctor")
    #expect(doctor.output.contains("with a wrong checksum"), "\(doctor.output)")

    let again = try await take5("database", "checksums")
    #expect(again.status == 0 && again.output == "the database already has data checksums\n", "\(again.errors)")
  }
}
