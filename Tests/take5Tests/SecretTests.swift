import Platform
import PostgresTesting
import Testing

@testable import take5

@Suite("Secrets from files")
struct SecretTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-secret")
    path = "\(folder.path)/database"
    try Descriptor(writing: path, replacing: false).write(Array("postgresql:///first\npostgresql:///second".utf8))
  }

  private func secret(
    _ given: [String], _ environment: [String: String] = [:], file: String = ""
  ) throws -> String? {
    let file = ConfigurationFile(path: "f", Array(file.utf8))
    return try Arguments(given, of: .serve, environment: environment, file: file).secret(.database)
  }

  @Test("the first line of the file is the value, from each source")
  func sources() throws {
    #expect(try secret([]) == nil)
    #expect(try secret(["--database-file", path]) == "postgresql:///first")
    #expect(try secret([], ["TAKE5_DATABASE_URL_FILE": path]) == "postgresql:///first")
    #expect(try secret([], file: "database-file = \(path)") == "postgresql:///first")
  }

  @Test("the source that takes precedence decides between the URL and the file; two from one source are refused")
  func precedence() throws {
    let url = "postgresql:///url"
    #expect(try secret(["--database", url], ["TAKE5_DATABASE_URL_FILE": path]) == url)
    #expect(try secret(["--database-file", path], ["TAKE5_DATABASE_URL": url]) == "postgresql:///first")
    #expect(try secret([], ["TAKE5_DATABASE_URL": url], file: "database-file = \(path)") == url)
    #expect(try secret([], ["TAKE5_DATABASE_URL_FILE": path], file: "database = \(url)") == "postgresql:///first")
    let both = #expect(throws: CommandFailure.self) { try secret(["--database", url, "--database-file", path]) }
    #expect(both?.status == .usage)
    let inFile = #expect(throws: CommandFailure.self) {
      try secret([], file: "database = \(url)\ndatabase-file = \(path)")
    }
    #expect(inFile?.status == .configuration)
  }

  @Test("a file that is missing or empty is refused")
  func unreadable() throws {
    let missing = #expect(throws: CommandFailure.self) { try secret(["--database-file", "/nowhere/database"]) }
    #expect(missing?.status == .inputMissing && missing?.message?.contains("--database-file") == true)
    let empty = #expect(throws: CommandFailure.self) { try secret(["--database-file", "/dev/null"]) }
    #expect(empty?.status == .usage)
  }

  @Test("only the option of the key's file takes precedence over the variable with the key")
  func apiKey() throws {
    func key(_ given: [String], _ environment: [String: String]) throws -> String? {
      try APIKey.read(try Arguments(given, of: .serve, environment: environment))
    }
    let environment = ["TAKE5_API_KEY": "t5-key", "TAKE5_API_KEY_FILE": path]
    #expect(try key([], environment) == "t5-key")
    #expect(try key(["--api-key-file", path], environment) == "postgresql:///first")
    #expect(try key([], ["TAKE5_API_KEY_FILE": path]) == "postgresql:///first")
  }
}
