import Glibc
import Platform

/// The command line: finds the verb, runs it, and turns what happened into an exit status.
@main
struct Take5 {
  static func main() async {
    ThisProcess.ignoreBrokenPipes()
    exit(await run(Array(CommandLine.arguments.dropFirst()), environment: environment()).rawValue)
  }

  private static let verbs: [Verb] = [
    .serve, .worker, .submitPost, .jobsList, .jobsShow, .jobsRetry, .jobsCancel, .jobsStats, .jobsWatch, .keysCreate,
    .keysList, .keysRevoke, .keysRotate, .cronList, .cronSet, .cronRemove, .cronPause, .cronResume, .cronRun,
    .reprocess, .reprocessStatus, .reprocessPause, .reprocessResume, .reprocessCancel,
    .validate, .inspect, .compose, .still, .photo, .verify, .gc, .gcHold, .gcRelease, .database,
    .migrate, .version, .mediaProcess,
  ]

  private static func run(_ words: [String], environment: [String: String]) async -> ExitStatus {
    guard let first = words.first else {
      Console.write(Help.text(verbs: verbs), to: 2)
      return .usage
    }
    if ["--help", "-h", "help"].contains(first) {
      Console.write(Help.text(verbs: verbs), to: 1)
      return .done
    }
    let name = first == "--version" ? "version" : first
    let pair = words.prefix(2).joined(separator: " ")
    guard let verb = verbs.first(where: { $0.name == pair }) ?? verbs.first(where: { $0.name == name }) else {
      return report(unknown(words))
    }
    let rest = Array(words.dropFirst(verb.name.split(separator: " ").count))
    if rest.contains("--help") || rest.contains("-h") {
      Console.write(Help.text(verb: verb), to: 1)
      return .done
    }
    do {
      try Failpoints.check(Failpoint.all)
      return try await verb.run(try Arguments(rest, of: verb, environment: environment))
    } catch let failure as CommandFailure {
      return report(failure)
    } catch let error as FailpointError {
      return report(CommandFailure(.usage, "\(Failpoints.variable): \(error.message)", remedy: error.remedy))
    } catch {
      return report(CommandFailure(.internal, "\(error)", remedy: "this is a fault of take5: please report it"))
    }
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
    Console.note("take5: \(failure.message)")
    if let remedy = failure.remedy { Console.note("       \(remedy)") }
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
