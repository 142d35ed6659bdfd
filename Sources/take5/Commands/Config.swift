import Model

extension Subcommand {
  static let config = Subcommand(
    "config", abstract: "Print the options of a service with their values and sources; status 78 if one is wrong.",
    options: serviceOptions + [
      Option("--example", help: "print a configuration file with every key, its default and its description"), .json,
    ], example: "take5 config --json", reportsConfiguration: true
  ) { arguments in
    let keys = ConfigurationKeys(of: Subcommand.all)
    if arguments.has("--example") {
      try Console.write(ConfigurationExample.text(of: keys))
      return .success
    }
    let options = serviceOptions.filter { $0.placeholder != nil }
    let report = ConfigurationReport(arguments, options: options)
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    let failures = ServiceConfiguration.failures(arguments, keys, options: options)
    guard failures.isEmpty else { throw InvalidConfiguration(failures: failures) }
    return .success
  }

  /// The options of `serve`, and the ones that only `worker` has.
  static let serviceOptions =
    serve.options + worker.options.filter { !serve.options.map(\.name).contains($0.name) }
}
