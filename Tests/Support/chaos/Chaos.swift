import ChaosTesting
import Glibc
import Platform

/// The programs of a run of chaos: a worker, a producer, and the controller that breaks them.
@main
struct Chaos {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      try Failpoints.check(ChaosSchema.failpoints)
      let options = Options(Array(words.dropFirst()))
      switch words.first {
      case "worker": try await Players.work(options)
      case "produce": try Players.produce(options)
      case "storm", "service", "owner", "reprocess", "matrix", "all":
        let controller = try Controller(options)
        guard try await controller.run(words[0]) else { exit(1) }
      default:
        throw OptionError(
          description: """
            chaos all|storm|service|owner|reprocess|matrix [--seed N] [--jobs N] [--faults N] [--posts N] [--stored N] \
            [--kills N] [--cells N] [--only TEXT] [--lanes N] [--write FILE]
            """)
      }
    } catch {
      try? Descriptor(owning: dup(2)).write(Array("chaos: \(error)\n".utf8))
      exit(1)
    }
  }
}
