import Testing

@testable import take5

@Suite("Arguments")
struct ArgumentsTests {
  static let verb = Subcommand(
    "thing", abstract: "Do a thing.", operands: ["FRONT", "[BACK]"],
    options: [
      Option("--data", "DIR", variable: "TAKE5_DATA", default: ".take5", help: ""),
      Option("--output", "FILE", short: "-o", help: ""), Option("--count", "N", help: ""), Option("--json", help: ""),
    ], example: ""
  ) { _ in .done }

  @Test("an option outweighs its variable, and that its default")
  func precedence() throws {
    let environment = ["TAKE5_DATA": "/variable"]
    #expect(try Arguments(["a"], of: Self.verb, environment: [:]).value("--data") == ".take5")
    #expect(try Arguments(["a"], of: Self.verb, environment: environment).value("--data") == "/variable")
    let both = try Arguments(["a", "--data", "/option"], of: Self.verb, environment: environment)
    #expect(both.value("--data") == "/option")
    #expect(try Arguments(["a"], of: Self.verb, environment: ["TAKE5_DATA": ""]).value("--data") == ".take5")
  }

  @Test("values stand after a space or an equals sign, switches alone, operands anywhere")
  func forms() throws {
    let arguments = try Arguments(
      ["-o", "x", "front", "--data=y=z", "--json", "--", "--back"], of: Self.verb, environment: [:])
    #expect(arguments.value("--output") == "x")
    #expect(arguments.value("--data") == "y=z")
    #expect(arguments.has("--json"))
    #expect(arguments.operands == ["front", "--back"])
  }

  @Test(
    "wrong words are refused with status 64 and a remedy",
    arguments: [
      [], ["a", "b", "c"], ["a", "--unknown"], ["a", "--data"], ["a", "--json=yes"], ["a", "--count", "x"],
      ["a", "--count", "11"],
    ])
  func wrong(words: [String]) {
    let failure = #expect(throws: CommandFailure.self) {
      _ = try Arguments(words, of: Self.verb, environment: [:]).number("--count", in: 1...10)
    }
    #expect(failure?.status == .usage)
    #expect(failure?.remedy != nil)
  }
}
