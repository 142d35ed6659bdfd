import Glibc
import MediaMutation
import Platform

/// Changes media files by seeds and passes them to the parsers or through the whole media process.
@main
struct Mutate {
  private static let usage = """
    usage: mutate parsers --seeds A..<B [--media DIR] [--record FILE] [--keep FILE]
           mutate pipeline --seeds A..<B [--canvas WIDTH|shipped] [--media DIR] [--record FILE] [--keep FILE]
           mutate figures --record FILE --write DOCUMENT
    """

  static func main() async {
    CurrentSeed.reportTraps()
    ThisProcess.ignoreBrokenPipes()
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      let options = Options(Array(arguments.dropFirst()))
      switch arguments.first {
      case "parsers", "pipeline":
        let isValid = try await Command(options, isPipeline: arguments[0] == "pipeline").run()
        exit(isValid ? 0 : 1)
      case "figures":
        let figures = Figures(try RangeRecord.read(options.text("--record")))
        print(figures.table)
        try figures.write(to: options.text("--write"))
      default: throw OptionError(description: usage)
      }
    } catch {
      try? Descriptor(owning: dup(2)).write(Array("mutate: \(error)\n".utf8))
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

  /// The seeds, `A..<B`.
  func seeds() throws -> Range<UInt64> {
    let text = try text("--seeds")
    let ends = text.split(separator: "..<").map { UInt64($0) }
    guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else {
      throw OptionError(description: "--seeds is no range such as 0..<1000: \(text)")
    }
    return start..<end
  }
}

/// An invalid option.
struct OptionError: Error, CustomStringConvertible {
  let description: String
}
