/// What the options of all commands permit in a configuration file and in the environment.
struct ConfigurationKeys: Sendable {
  /// The options with a key, each once, in the order of the commands.
  let options: [Option]
  /// The environment variables that some command reads.
  let variables: [String]

  init(of commands: [Subcommand]) {
    let all = commands.flatMap(\.options)
    var seen: Set<String> = []
    options = all.filter { option in option.key.map { seen.insert($0).inserted } ?? false }
    variables = all.compactMap(\.variable) + OtherVariable.all.map(\.name)
  }

  /// The keys of the file that no command has, with the nearest one.
  func unknownKeys(in file: ConfigurationFile) -> [ConfigurationFile.Problem] {
    let keys = options.compactMap(\.key)
    return file.entries.filter { !keys.contains($0.key) }.map { entry in
      let hint = NearestName.ofOption(entry.key, among: keys).map { ": did you mean '\($0)'?" } ?? ""
      return ConfigurationFile.Problem(
        line: entry.line, message: "unknown key '\(entry.key)'\(hint)",
        remedy: "'take5 config --example' prints all keys")
    }
  }

  /// The variables whose names begin as ours and that no command reads, sorted, each with the nearest one if there is
  /// one. They may belong to another program: Kubernetes sets `TAKE5_SERVICE_HOST` for a service of this name.
  func unknownVariables(in environment: [String: String]) -> [(name: String, nearest: String?)] {
    let prefix = "TAKE5_"
    let known = variables.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    let unknown = environment.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    return unknown.filter { !known.contains($0) }.sorted().map { name in
      (prefix + name, NearestName.of(name, among: known).map { prefix + $0 })
    }
  }

  /// The faults of the file, in the order of its lines: its syntax, unknown keys, and the values of the options of
  /// one command.
  func failures(in file: ConfigurationFile, _ arguments: Arguments, options: [Option]) -> [CommandFailure] {
    let values = options.compactMap { option -> (line: Int, failure: CommandFailure)? in
      guard case .file(_, let line)? = arguments.setting(option.name)?.source else { return nil }
      return arguments.failure(of: option.name).map { (line, $0) }
    }
    let problems = (file.problems + unknownKeys(in: file)).map { problem in
      let place = problem.line.map { "\(file.path):\($0)" } ?? file.path
      return (
        line: problem.line ?? 0,
        failure: CommandFailure(.configuration, "\(place): \(problem.message)", remedy: problem.remedy)
      )
    }
    return (problems + values).sorted { $0.line < $1.line }.map(\.failure)
  }
}

/// An environment variable that belongs to no option.
struct OtherVariable: Sendable {
  let name: String
  let help: String

  static let apiKey = OtherVariable(name: "TAKE5_API_KEY", help: "the API key itself; --api-key-file names a file")
  static let postgres = OtherVariable(
    name: "TAKE5_POSTGRES_BIN", help: "folders of initdb and postgres for the embedded server; default: the newest")

  static let all = [
    apiKey, postgres,
    OtherVariable(name: "TAKE5_FAILPOINTS", help: "faults to inject in tests, and where"),
  ]
}

/// A configuration with errors: all of them, so that they can be corrected together.
struct InvalidConfiguration: Error, Sendable {
  let failures: [CommandFailure]

  /// The status of a start: the status that all failures share, or 78 if they differ.
  var startStatus: ExitStatus {
    let statuses = Set(failures.map(\.status))
    return statuses.count == 1 ? statuses.first ?? .configuration : .configuration
  }
}
