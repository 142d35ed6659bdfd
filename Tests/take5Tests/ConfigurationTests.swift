import Model
import Testing

@testable import take5

/// An option of one command.
struct CommandOption: Sendable, CustomTestStringConvertible {
  let command: Subcommand
  let option: Option

  var testDescription: String { "\(command.name) \(option.name)" }

  /// Each command with each of its options that have a variable.
  static let all = Subcommand.all.flatMap { command in
    command.options.filter { $0.variable != nil }.map { CommandOption(command: command, option: $0) }
  }

  /// Four different values that the option takes.
  var values: [String] {
    switch option.values {
    case .integer(let range): (0..<4).map { "\(range.lowerBound + 70 + $0)" }
    case .seconds: ["2", "3.5", "4", "5"]
    case .choice(let choices), .list(let choices): (0..<4).map { choices[$0 % choices.count] }
    case .address: (1...4).map { "127.0.0.\($0):80" }
    case .addresses: (1...4).map { "10.0.0.\($0),10.1.0.0/16" }
    case .permits: (1...4).map { "mailer.internal,10.0.0.\($0)" }
    case .service, .pushServer: (1...4).map { "https://take5-\($0).example:8443" }
    case .database: (1...4).map { "postgresql://ada@host/take5_\($0)" }
    case .url, .publicURL: (1...4).map { "https://take5-\($0).example/path" }
    case .keySet: (1...4).map { "https://take5-\($0).example/keys" }
    case .windowSchedule: (1...4).map { "18:0\($0)-18:05,20:00-20:05 Europe/Berlin" }
    case .none, .text, .file, .folder, .format: (1...4).map { "/value/\($0)" }
    }
  }

  /// The arguments of the command, with as many operands as it needs.
  func arguments(
    _ given: [String], _ environment: [String: String] = [:], _ file: ConfigurationFile? = nil
  ) throws -> Arguments {
    let operands = Array(repeating: "x", count: command.operandCounts.lowerBound)
    return try Arguments(operands + given, of: command, environment: environment, file: file)
  }
}

@Suite("Sources of options")
struct OptionSourceTests {
  @Test(
    "a flag takes precedence over the variable, the variable over the file, and the file over the default",
    arguments: CommandOption.all)
  func precedence(_ subject: CommandOption) throws {
    let (option, values) = (subject.option, subject.values)
    for value in values { #expect(option.values.problem(with: value) == nil, "\(value)") }
    let variable = try #require(option.variable)
    let key = try #require(option.key ?? (option == .configuration ? "config" : nil))
    let file = ConfigurationFile(path: "f", Array("# one\n\(key) = '\(values[2])'\n".utf8))
    func setting(_ given: [String], _ environment: [String: String], _ file: ConfigurationFile?) throws -> Setting? {
      try subject.arguments(given, environment, file).setting(option.name)
    }
    let flag = Setting(text: values[0], source: .option(option.name))
    #expect(try setting([option.name, values[0]], [variable: values[1]], file) == flag)
    #expect(try setting(["\(option.name)=\(values[0])"], [:], nil) == flag)
    #expect(try setting([], [variable: values[1]], file) == Setting(text: values[1], source: .variable(variable)))
    let standard = option.defaultValue.map { Setting(text: $0, source: .standard) }
    #expect(try setting([], [variable: ""], nil) == standard)
    // The name of the file cannot stand in the file.
    let inFile = Setting(text: values[2], source: .file(path: "f", line: 2))
    #expect(try setting([], [variable: ""], file) == (option == .configuration ? standard : inFile))
  }

  @Test("options with a variable have a key, options of a single command have neither; the table has all of them once")
  func table() {
    let keys = ConfigurationKeys(of: Subcommand.all)
    #expect(keys.options.count > 25)
    let names = Set(CommandOption.all.map(\.option.name)).subtracting([Option.configuration.name])
    #expect(Set(keys.options.map(\.name)) == names)
    #expect(keys.options.allSatisfy { $0.name == "--" + ($0.key ?? "") })
    for option in Subcommand.all.flatMap(\.options) where option.variable == nil { #expect(option.key == nil) }
    for command in Subcommand.all {
      #expect(command.options.contains(.configuration) == command.options.contains { $0.key != nil }, "\(command.name)")
      #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
    }
  }

  @Test("the default of each option is a value that it takes")
  func defaults() {
    for option in Subcommand.all.flatMap(\.options) {
      guard let value = option.defaultValue, option.values != .file else { continue }
      #expect(option.values.problem(with: value) == nil, "\(option.name)")
    }
  }

  @Test("a wrong value is named as its source names it, with status 78 for the file and 64 otherwise")
  func wrongValues() throws {
    let file = ConfigurationFile(path: "/etc/f", Array("\nslots = many".utf8))
    func failure(_ given: [String], _ environment: [String: String] = [:]) throws -> CommandFailure? {
      try Arguments(given, of: .serve, environment: environment, file: file).failure(of: "--slots")
    }
    let inFile = try #require(try failure([]))
    #expect(inFile.status == .configuration)
    #expect(inFile.message == "/etc/f:2: slots must be an integer from 0 to 256, not 'many'")
    let inVariable = try #require(try failure([], ["TAKE5_SLOTS": "-1"]))
    #expect(inVariable.status == .usage && inVariable.message?.hasPrefix("TAKE5_SLOTS must be") == true)
    let inFlag = try #require(try failure(["--slots", "257"]))
    #expect(inFlag.status == .usage && inFlag.message?.hasPrefix("--slots must be") == true)
    #expect(try failure(["--slots", "2"]) == nil)
  }

  @Test("a database URL with a fault is not repeated: it may contain a password")
  func secretProblem() throws {
    let problem = try #require(OptionValues.database.problem(with: "postgresql://ada:sesame@[::1"))
    #expect(!problem.contains("sesame"))
  }

  @Test("a misspelt option and command are refused with the nearest name")
  func nearest() throws {
    let failure = #expect(throws: CommandFailure.self) {
      try Arguments(["--lisen", "x"], of: .serve, environment: [:])
    }
    #expect(failure?.message == "unknown option '--lisen': did you mean '--listen'?")
    #expect(failure?.status == .usage)
  }
}

@Suite("Checks of the configuration")
struct ConfigurationKeysTests {
  private let keys = ConfigurationKeys(of: Subcommand.all)

  private func file(_ text: String) -> ConfigurationFile { ConfigurationFile(path: "f", Array(text.utf8)) }

  @Test("an unknown key is found with its line and the nearest key, a key of another command is none")
  func unknownKeys() {
    let problems = keys.unknownKeys(in: file("lisen = x\nserver = y\nworkers = 2\nzebra-crossing = z"))
    #expect(problems.map(\.line) == [1, 3, 4])
    #expect(
      problems.map(\.message) == [
        "unknown key 'lisen': did you mean 'listen'?", "unknown key 'workers'", "unknown key 'zebra-crossing'",
      ])
    #expect(keys.unknownKeys(in: file("config = /etc/other")).map(\.line) == [1])
  }

  @Test("all failures are found, in the order of the lines")
  func all() throws {
    let text = "slots = many\nlisen = x\nno line\npoll = 0\nslots = 1\nserver = not a URL"
    let file = file(text)
    let arguments = try Arguments([], of: .serve, environment: [:], file: file)
    let failures = keys.failures(in: file, arguments, options: Subcommand.serve.options)
    #expect(failures.allSatisfy { $0.status == .configuration && $0.remedy != nil })
    let places = failures.compactMap { $0.message?.prefix(4) }
    #expect(places == ["f:1:", "f:2:", "f:3:", "f:4:", "f:5:"], "\(failures)")
    // A worker has no listening address.
    let other = self.file("listen = nowhere\nslots = -1")
    let ofWorker = try Arguments([], of: .worker, environment: [:], file: other)
    #expect(keys.failures(in: other, ofWorker, options: Subcommand.worker.options).count == 1)
  }

  @Test("an unknown variable is found, with the nearest one if it is near; other programs' variables are not ours")
  func variables() {
    let environment = [
      "TAKE5_DATABSE_URL": "x", "TAKE5_PORT": "tcp://10.0.0.1:80", "TAKE5_SERVICE_HOST": "10.0.0.1", "TAKE5_SLOTS": "2",
      "TAKE5_API_KEY": "k", "TAKE5_POSTGRES_BIN": "/bin", "PATH": "/bin",
    ]
    let unknown = keys.unknownVariables(in: environment)
    #expect(unknown.map(\.name) == ["TAKE5_DATABSE_URL", "TAKE5_PORT", "TAKE5_SERVICE_HOST"])
    #expect(unknown.map(\.nearest) == ["TAKE5_DATABASE_URL", nil, nil])
  }

  @Test("the report has each option with its value and source, and no password")
  func report() throws {
    let file = file("poll = 2\ndatabase = 'postgresql://ada:sesame@host/take5'")
    let environment = ["TAKE5_SLOTS": "3", "TAKE5_API_KEY": "t5-sesame"]
    let arguments = try Arguments(["--grace", "60"], of: .config, environment: environment, file: file)
    let report = ConfigurationReport(arguments, options: Subcommand.serviceOptions)
    func entry(_ name: String) -> ConfigurationReport.Entry? { report.options.first { $0.option == name } }
    #expect(entry("--grace").map { [$0.value, $0.source] } == ["60", "flag"])
    #expect(entry("--slots").map { [$0.value, $0.source] } == ["3", "TAKE5_SLOTS"])
    #expect(entry("--poll").map { [$0.value, $0.source] } == ["2", "f:1"])
    #expect(entry("--lease").map { [$0.value, $0.source] } == ["30", "default"])
    #expect(entry("--metrics").map { [$0.value, $0.source] } == [nil, "default"])
    #expect(entry("--database")?.value?.contains("host='host'") == true)
    #expect(report.text.contains("TAKE5_API_KEY") && report.text.contains("f:2"))
    #expect(!report.text.contains("sesame"))
    #expect(!(try JSON.text(report)).contains("sesame"))
  }

  @Test("the example has every key as a comment, and with its defaults it is a valid file")
  func example() throws {
    let text = ConfigurationExample.text(of: keys)
    let empty = file(text)
    #expect(empty.entries.isEmpty && empty.problems.isEmpty)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { $0.dropFirst() }
    let set = file(lines.joined(separator: "\n"))
    #expect(set.problems.isEmpty && keys.unknownKeys(in: set).isEmpty)
    #expect(set.entries.map(\.key) == keys.options.compactMap(\.key))
    for option in keys.options {
      guard let value = option.defaultValue else { continue }
      #expect(set.entries.first { $0.key == option.key }?.value == value, "\(option.name)")
    }
  }
}
