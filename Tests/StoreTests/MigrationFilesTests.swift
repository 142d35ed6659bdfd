import Foundation
import Postgres
import Rooms
import Store
import Testing

@Suite("Files of migrations")
struct MigrationFilesTests {
  private static let sources =
    "\(#filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined())/Sources"

  @Test("each file of a migration that follows a baseline has its number and its name in the list")
  func listed() throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Self.sources)
      .compactMap { $0.split(separator: "/").last.map(String.init) }.filter { $0.contains(/^v\d+_\w+\.sql$/) }
    let listed = [Migration].all.filter { $0.versions.count == 1 }.map { migration in
      let digits = String(migration.version)
      return "v\(String(repeating: "0", count: 4 - digits.count))\(digits)_\(migration.name).sql"
    }
    #expect(files.sorted() == listed.sorted())
  }
}
