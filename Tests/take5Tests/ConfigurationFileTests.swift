import Platform
import PostgresTesting
import Testing

@testable import take5

@Suite("Configuration file")
struct ConfigurationFileTests {
  private func parse(_ text: String) -> ConfigurationFile { ConfigurationFile(path: "f", Array(text.utf8)) }

  /// The value of a file with one line.
  private func value(_ text: String) -> String? { parse("key = \(text)").entries.first?.value }

  @Test("lines have keys and values, comments and empty lines have none, and blanks do not matter")
  func lines() {
    let file = parse("# take5\n\nlisten = 127.0.0.1:80\n \t slots=2  # two\r\n   # slots = 3\ndata =  /a b \n")
    #expect(file.problems.isEmpty)
    #expect(
      file.entries == [
        .init(key: "listen", value: "127.0.0.1:80", line: 3), .init(key: "slots", value: "2", line: 4),
        .init(key: "data", value: "/a b", line: 6),
      ])
    #expect(parse("").entries.isEmpty && parse("").problems.isEmpty)
    #expect(parse("a = 1").entries.count == 1, "the last line needs no end")
    #expect(ConfigurationFile(path: "f", [0xEF, 0xBB, 0xBF] + Array("a = 1".utf8)).entries.first?.key == "a")
  }

  @Test("a value between quotes is taken as it is, and two quotes stand for one")
  func quotes() {
    #expect(value("'a # b'") == "a # b")
    #expect(value("' a '  # comment") == " a ")
    #expect(value("'it''s'") == "it's")
    #expect(value("it's") == "it's")
  }

  @Test("a # after a blank begins a comment, one inside a value belongs to it")
  func comments() {
    #expect(value("postgresql://ada:a#b@host/take5") == "postgresql://ada:a#b@host/take5")
    #expect(value("2 #b") == "2")
    #expect(value("2\t#b") == "2")
    #expect(value("a=b") == "a=b")
  }

  @Test(
    "a wrong line is a problem with its number, and the lines after it are read",
    arguments: [
      ("listen", "no '='"), ("= 1", "'' is not a key"), ("Slots = 1", "'Slots' is not a key"),
      ("slots = ", "'slots' has no value"), ("slots = # 1", "'slots' has no value"),
      ("slots = ''", "'slots' has no value"), ("slots = 'a", "closing quote is missing"),
      ("slots = 'a' b", "text follows the closing quote"), ("slots = a\u{0}b", "control character"),
      ("slots = a\u{1B}[m", "control character"), ("first = 2", "'first' is set in line 1 too"),
    ])
  func wrong(line: String, message: String) throws {
    let file = parse("first = 1\n\(line)\nlast = 3")
    let problem = try #require(file.problems.first)
    #expect(file.problems.count == 1 && problem.line == 2)
    #expect(problem.message.contains(message), "\(problem)")
    #expect(!problem.remedy.isEmpty)
    #expect(file.entries.map(\.key) == ["first", "last"])
  }

  @Test("bytes that are not UTF-8 are a problem of their line, a large file is one of the file")
  func encoding() {
    let latin = ConfigurationFile(path: "f", Array("a = 1\nb = ".utf8) + [0xE9, 0x0A] + Array("c = 2".utf8))
    #expect(latin.problems.map(\.line) == [2] && latin.entries.map(\.key) == ["a", "c"])
    let limit = ConfigurationFile.maxSize
    let comment = [UInt8](repeating: UInt8(ascii: "#"), count: limit)
    #expect(ConfigurationFile(path: "f", comment).problems.isEmpty)
    let large = ConfigurationFile(path: "f", comment + [0x0A])
    #expect(large.entries.isEmpty && large.problems.map(\.line) == [nil])
  }

  @Test("the named file is read, otherwise the standard one if it exists")
  func reading() throws {
    let folder = try TemporaryFolder(prefix: "take5-configuration")
    let (standard, named) = ("\(folder.path)/take5.conf", "\(folder.path)/named")
    func read(_ options: [String], _ environment: [String: String] = [:]) throws -> ConfigurationFile? {
      let arguments = try Arguments(options, of: .serve, environment: environment)
      return ConfigurationFile.read(arguments, isRequired: true, standard: standard)
    }
    #expect(try read([]) == nil)
    let missing = try #require(try read(["--config", named]))
    #expect(missing.problems.count == 1 && missing.entries.isEmpty)
    try Descriptor(writing: standard, replacing: false).write(Array("slots = 1".utf8))
    try Descriptor(writing: named, replacing: false).write(Array("slots = 2".utf8))
    #expect(try read([])?.entries.first?.value == "1")
    #expect(try read(["--config", named])?.entries.first?.value == "2")
    #expect(try read([], ["TAKE5_CONFIG": named])?.path == named)
    #expect(try read(["--config", "/dev/null"], ["TAKE5_CONFIG": named])?.entries.isEmpty == true)
  }
}

@Suite("Nearest names")
struct NearestNameTests {
  @Test("a misspelt name has a near one, another name has none")
  func near() {
    let names = ["listen", "slots", "data", "database", "log-level"]
    #expect(NearestName.of("lisen", among: names) == "listen")
    #expect(NearestName.of("solts", among: names) == "slots")
    #expect(NearestName.of("databse", among: names) == "database")
    #expect(NearestName.of("loglevel", among: names) == "log-level")
    #expect(NearestName.of("date", among: names) == "data")
    #expect(NearestName.of("port", among: names) == nil)
    for name in ["--port", "--host", "--bind", "--address"] {
      #expect(NearestName.ofOption(name, among: ["--poll", "--listen"]) == "--listen")
      #expect(NearestName.ofOption(name, among: ["--data"]) == nil)
    }
    #expect(NearestName.of("", among: names) == nil)
    #expect(NearestName.of("x", among: []) == nil)
  }

  @Test("the distance counts inserted, removed, replaced and exchanged letters")
  func distance() {
    func distance(_ first: String, _ second: String) -> Int {
      NearestName.distance(Array(first.utf8), Array(second.utf8))
    }
    #expect(distance("", "abc") == 3 && distance("abc", "") == 3 && distance("abc", "abc") == 0)
    #expect(distance("abc", "abd") == 1 && distance("abc", "acb") == 1 && distance("abc", "bc") == 1)
    #expect(distance("ca", "abc") == 3)
  }
}
