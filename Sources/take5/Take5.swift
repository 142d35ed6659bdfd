import Blobs
import EmbeddedPostgres
import Glibc
import Integrity
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Rooms
import Store

/// The program: finds the command that the arguments name, runs it and returns its exit status.
@main
struct Take5 {
  static func main() async {
    ThisProcess.leaveProcessOne()
    ThisProcess.limitHeap()
    ThisProcess.ignoreBrokenPipes()
    ThisProcess.openMissingStandardDescriptors()
    exit(await run(Array(CommandLine.arguments.dropFirst()), environment: Environment.variables()).rawValue)
  }

  private static let commands = Subcommand.all

  private static func run(_ arguments: [String], environment: [String: String]) async -> ExitStatus {
    do {
      return try await dispatch(arguments, environment)
    } catch let error as FailpointError {
      return report(CommandFailure(.usage, "\(Failpoints.variable): \(error.message)", remedy: error.remedy))
    } catch let error as InvalidConfiguration {
      for failure in error.failures { _ = report(failure) }
      return .configuration
    } catch {
      return report(CommandFailure(error))
    }
  }

  private static func dispatch(_ arguments: [String], _ environment: [String: String]) async throws -> ExitStatus {
    guard let first = arguments.first else {
      Console.writeError(Help.text(of: commands))
      return .usage
    }
    // 'take5 help jobs list' is 'take5 jobs list --help'.
    if first == "help", arguments.count > 1 {
      return try await dispatch(Array(arguments.dropFirst()) + ["--help"], environment)
    }
    if ["--help", "-h", "help"].contains(first) {
      try Console.write(Help.text(of: commands))
      return .success
    }
    let name = first == "--version" ? "version" : first
    let pair = arguments.prefix(2).joined(separator: " ")
    let group = commands.filter { !$0.isHidden && $0.name.hasPrefix(first + " ") }
    guard let command = commands.first(where: { $0.name == pair }) ?? commands.first(where: { $0.name == name }) else {
      guard !group.isEmpty, ["--help", "-h"].contains(arguments.dropFirst().first) else {
        throw unknown(arguments, group)
      }
      try Console.write(Help.text(of: group, named: first))
      return .success
    }
    let rest = Array(arguments.dropFirst(command.name.split(separator: " ").count))
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try Console.write(Help.text(of: command, among: command.name == first ? group : []))
      return .success
    }
    try Failpoints.check(Failpoint.all)
    return try await command.run(
      try configured(try Arguments(rest, of: command, environment: environment), command, environment))
  }

  /// The arguments with the configuration file, if the command has options that can come from it.
  private static func configured(
    _ arguments: Arguments, _ command: Subcommand, _ environment: [String: String]
  ) throws(InvalidConfiguration) -> Arguments {
    guard command.options.contains(.configuration) else { return arguments }
    let keys = ConfigurationKeys(of: commands)
    for case (let name, let nearest?) in keys.unknownVariables(in: environment) {
      Console.note("take5: warning: unknown variable \(name): did you mean \(nearest)?")
    }
    let file = ConfigurationFile.read(arguments, isRequired: command.opensStore)
    let arguments = arguments.with(file)
    guard let file, !command.reportsConfiguration else { return arguments }
    let failures = keys.failures(in: file, arguments, options: command.options)
    guard failures.isEmpty else { throw InvalidConfiguration(failures: failures) }
    return arguments
  }

  /// - Parameter group: the commands that begin with the first argument.
  private static func unknown(_ arguments: [String], _ group: [Subcommand]) -> CommandFailure {
    if arguments.starts(with: ["keys", "rotate"]) {
      return CommandFailure(
        .usage,
        "'keys rotate' is 'keys rotate-signing' now, which makes signed media URLs invalid and replaces no API key",
        remedy: "to replace a key: 'take5 keys create NAME', then 'take5 keys revoke KEY'")
    }
    let names = commands.filter { !$0.isHidden }.flatMap { [$0.name, String($0.name.prefix { $0 != " " })] }
    let nearest = NearestName.of(arguments[0], among: names).map { ": did you mean '\($0)'?" } ?? ""
    if !group.isEmpty, let second = arguments.dropFirst().first, !second.hasPrefix("-") {
      let names = group.map { String($0.name.dropFirst(arguments[0].count + 1)) }
      let nearest = NearestName.of(second, among: names).map { ": did you mean '\(arguments[0]) \($0)'?" }
      return CommandFailure(
        .usage, "unknown subcommand '\(arguments[0]) \(second)'\(nearest ?? ": \(names.joined(separator: ", "))")",
        remedy: "'take5 \(arguments[0]) --help' describes them")
    }
    let message =
      group.isEmpty
      ? "unknown command '\(arguments[0])'\(nearest)"
      : "'\(arguments[0])' needs a subcommand: "
        + group.map { String($0.name.dropFirst(arguments[0].count + 1)) }.joined(separator: ", ")
    let remedy =
      group.isEmpty ? "'take5 --help' lists the commands" : "'take5 \(arguments[0]) --help' describes them"
    return CommandFailure(.usage, message, remedy: remedy)
  }

  private static func report(_ failure: CommandFailure) -> ExitStatus {
    for line in failure.lines { Console.note(line) }
    return failure.status
  }
}

extension Failpoint {
  /// Every failpoint of this program.
  fileprivate static var all: [Failpoint] {
    connections + JobQueue.failpoints + SetAside.failpoints + Store.topics.flatMap(\.failpoints)
      + [any Room.Type].all.failpoints
      + Integrity.failpoints + blobs + mediaProcesses
      + Upgrade.failpoints
  }
}
