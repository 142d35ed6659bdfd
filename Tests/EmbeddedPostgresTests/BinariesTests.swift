import Glibc
import Platform
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("PostgreSQL binaries")
struct BinariesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func install(_ version: Int) throws -> String {
    let bin = "\(folder.path)/\(version)/bin"
    try Folder.make(bin)
    for name in ["initdb", "postgres"] {
      let file = try Descriptor(writing: "\(bin)/\(name)", replacing: true, mode: 0o755)
      try file.write(Array("#!/bin/sh\necho 'postgres (PostgreSQL) \(version).2 (Debian)'\n".utf8))
    }
    return bin
  }

  @Test("only the folders in the environment are searched")
  func chosenFolder() throws {
    let (bin, other) = (try install(16), try install(14))
    let both = "\(other):\(bin)"
    #expect(try Binaries.find(.newest) { $0 == "TAKE5_POSTGRES_BIN" ? both : nil }.version == 16)
    #expect(try Binaries.find(.creator(14)) { $0 == "TAKE5_POSTGRES_BIN" ? both : nil }.version == 14)
    let binaries = try Binaries.find(.newest) { $0 == "TAKE5_POSTGRES_BIN" ? bin : nil }
    #expect(binaries == Binaries(folder: bin, version: 16))
  }

  @Test("the version of a program is read from its output if the path does not contain it")
  func versionOfProgram() throws {
    let bin = try install(17)
    let plain = "\(folder.path)/it's here"
    #expect(rename(bin, plain) == 0)
    #expect(try Binaries.find(.newest) { $0 == "TAKE5_POSTGRES_BIN" ? plain : nil }.version == 17)
  }

  @Test("a version that is too old, another than the cluster's, or missing is an error with a remedy")
  func notUsable() throws {
    let old = try install(12)
    let other = try install(16)
    let cases: [(String, Binaries.Wanted)] = [
      (old, .newest), (other, .creator(15)), (other, .version(17)), ("/nowhere", .newest),
    ]
    for (folder, wanted) in cases {
      let error = #expect(throws: EmbeddedPostgresError.self) {
        try Binaries.find(wanted) { $0 == "TAKE5_POSTGRES_BIN" ? folder : nil }
      }
      #expect(error?.remedy?.contains("TAKE5_POSTGRES_BIN") == true)
      let isUpgraded = wanted == .creator(15)
      #expect(error?.remedy?.contains("'take5 database upgrade' changes to 16") == isUpgraded)
    }
  }

  @Test("the client programs have the server's version, otherwise the next newer one")
  func clients() throws {
    var folders: [Int: String] = [:]
    for version in [14, 16, 17] {
      let bin = try install(version)
      for name in ["pg_dump", "pg_restore"] {
        _ = try Descriptor(writing: "\(bin)/\(name)", replacing: true, mode: 0o755)
      }
      folders[version] = bin
    }
    let all = folders.values.joined(separator: ":")
    func dump(_ names: [ClientPrograms.Name] = [.dump, .restore], server version: Int) throws -> String {
      try ClientPrograms(names, forServer: version) { $0 == "TAKE5_POSTGRES_BIN" ? all : nil }.path(.dump)
    }
    #expect(try dump(server: 14) == "\(folders[14] ?? "")/pg_dump")
    #expect(try dump(server: 15) == "\(folders[16] ?? "")/pg_dump")
    #expect(throws: EmbeddedPostgresError.self) { try dump(server: 18) }
    #expect(throws: EmbeddedPostgresError.self) { try dump([.restore, .shell], server: 14) }
  }
}
