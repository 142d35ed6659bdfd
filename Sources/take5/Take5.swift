import Glibc
import Platform

/// The command line: finds the verb, runs it, and turns what happened into an exit status.
@main
struct Take5 {
  static func main() async {
    ThisProcess.ignoreBrokenPipes()
    ThisProcess.holdStandardDescriptors()
    exit(await run(Array(CommandLine.arguments.dropFirst()), environment: environment()).rawValue)
  }

  private static let verbs: [Subcommand] = [
    .`init`, .serve, .worker, .submitPost, .submitPhoto, .submitMarker, .submitReaction, .submitProfileImage,
    .submitThumbnail, .submitPlacePhoto, .jobsList, .jobsShow, .jobsRetry, .jobsCancel, .jobsStats, .jobsWatch,
    .keysCreate,
    .keysList, .keysRevoke, .keysRotate, .cronList, .cronSet, .cronRemove, .cronPause, .cronResume, .cronRun,
    .reprocess, .reprocessStatus, .reprocessPause, .reprocessResume, .reprocessCancel,
    .validate, .inspect, .compose, .still, .photo, .verify, .gc, .gcHold, .gcRelease, .database,
    .migrate, .version, .mediaProcess,
  ]

  private static func run(_ words: [String], environment: [String: String]) async -> ExitStatus {
    do {
      return try await carryOut(words, environment)
    } catch let error as FailpointError {
      return report(CommandFailure(.usage, "\(Failpoints.variable): \(error.message)", remedy: error.remedy))
    } catch {
      return report(CommandFailure(error))
    }
  }

  private static func carryOut(_ words: [String], _ environment: [String: String]) async throws -> ExitStatus {
    guard let first = words.first else {
      Console.remark(Help.text(verbs: verbs))
      return .usage
    }
    if ["--help", "-h", "help"].contains(first) {
      try Console.write(Help.text(verbs: verbs))
      return .done
    }
    let name = first == "--version" ? "version" : first
    let pair = words.prefix(2).joined(separator: " ")
    guard let verb = verbs.first(where: { $0.name == pair }) ?? verbs.first(where: { $0.name == name }) else {
      throw unknown(words)
    }
    let rest = Array(words.dropFirst(verb.name.split(separator: " ").count))
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try Console.write(Help.text(verb: verb))
      return .done
    }
    try Failpoints.check(Failpoint.all)
    return try await verb.run(try Arguments(rest, of: verb, environment: environment))
  }

  private static func unknown(_ words: [String]) -> CommandFailure {
    let family = verbs.filter { !$0.isHidden && $0.name.hasPrefix(words[0] + " ") }
    let message =
      family.isEmpty
      ? "there is no verb '\(words[0])'"
      : "'\(words[0])' needs one of: "
        + family.map { String($0.name.dropFirst(words[0].count + 1)) }.joined(separator: ", ")
    return CommandFailure(.usage, message, remedy: "'take5 --help' lists what there is")
  }

  private static func report(_ failure: CommandFailure) -> ExitStatus {
    for line in failure.lines { Console.note(line) }
    return failure.status
  }

  /// The variables that it was started with.
  static func environment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return result
  }
}
