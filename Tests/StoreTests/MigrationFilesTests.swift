import Platform
import Postgres
import Store
import Testing
import Rooms

@Suite("Files of migrations")
struct MigrationFilesTests {
  private static let sources =
    "\(#filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined())/Sources"

  @Test("each migration in a folder SQL that follows a baseline has its number and its name in the list")
  func listed() throws {
    let files = try ["Queue", "Store"].flatMap { target in
      try Folder.names(in: "\(Self.sources)/\(target)/SQL").filter { $0.hasPrefix("v") }
    }
    let listed = [Migration].all.filter { $0.versions.count == 1 }.map { migration in
      let digits = String(migration.version)
      return "v\(String(repeating: "0", count: 4 - digits.count))\(digits)_\(migration.name).sql"
    }
    #expect(files.sorted() == listed.sorted())
  }
}
