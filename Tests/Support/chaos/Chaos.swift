import ChaosTesting
import Glibc
import Platform

/// Injects faults into the queue and the service: the controller, and the worker and the producer that it starts.
@main
struct Chaos {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      try Failpoints.check(ChaosSchema.failpoints)
      let options = Options(Array(arguments.dropFirst()))
      switch arguments.first {
      case "worker": try await Programs.work(options)
      case "produce": try Programs.produce(options)
      case "storm", "service", "bucket", "owner", "reprocess", "matrix", "all":
        let controller = try Controller(options)
        guard try await controller.run(arguments[0]) else { exit(1) }
      default:
        throw OptionError(
          description: """
            usage: chaos all|storm|service|bucket|owner|reprocess|matrix [--seed N] [--jobs N] [--faults N] [--posts N] \
            [--stored N] [--kills N] [--cells N] [--only TEXT] [--lanes N] [--write FILE]
            """)
      }
    } catch {
      try? Descriptor(owning: dup(2)).write(Array("chaos: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// The options of a command, as pairs of arguments: `--name value`.
struct Options {
  private let values: [String: String]

  init(_ arguments: [String]) {
    var values: [String: String] = [:]
    for index in stride(from: 0, to: arguments.count - 1, by: 2) { values[arguments[index]] = arguments[index + 1] }
    self.values = values
  }

  /// The value of an option; nil without it.
  subscript(_ name: String) -> String? { values[name] }

  /// The value of a required option.
  func text(_ name: String) throws -> String {
    guard let value = values[name] else { throw OptionError(description: "\(name) is missing") }
    return value
  }

  /// The number of a required option, or of one with a default.
  func number<Number: LosslessStringConvertible>(_ name: String, default value: Number? = nil) throws -> Number {
    if values[name] == nil, let value { return value }
    let text = try text(name)
    guard let number = Number(text) else { throw OptionError(description: "\(name) is not a number: \(text)") }
    return number
  }
}

/// An invalid option.
struct OptionError: Error, CustomStringConvertible {
  let description: String
}
