/// What the command line asks for.
struct Options {
  private(set) var pairs = 9
  private(set) var only: [String] = []
  private(set) var take5: String?
  private(set) var folder = ".build/bench"
  private(set) var document: String?
  private(set) var asksForHelp = false
  /// Whether photos are measured, instead of the composition.
  private(set) var isOfPhotos = false
  /// Whether lists are measured, instead of the composition.
  private(set) var isOfReading = false
  /// Whether the queue is measured, instead of the composition.
  private(set) var isOfQueue = false
  /// How often the queue and its peers are measured.
  private(set) var runs = 5

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw BenchError("\(option) needs a value; see --help") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--help": asksForHelp = true
      case "--photos": isOfPhotos = true
      case "--reading": isOfReading = true
      case "--queue": isOfQueue = true
      case "--take5": take5 = try value(of: option)
      case "--folder": folder = try value(of: option)
      case "--write": document = try value(of: option)
      case "--only":
        only.append(try value(of: option))
        while let name = rest.first, !name.hasPrefix("--") {
          only.append(name)
          rest.removeFirst()
        }
      case "--pairs": pairs = try Self.count(value(of: option), of: option)
      case "--runs": runs = try Self.count(value(of: option), of: option)
      default: throw BenchError("there is no option \(option); see --help")
      }
    }
  }

  private static func count(_ value: String, of option: String) throws -> Int {
    guard let count = Int(value), count > 0 else { throw BenchError("\(option) takes a number of at least 1") }
    return count
  }

  /// - Parameter names: what `--only` takes.
  static func help(names: [String]) -> String {
    """
    bench [--photos | --reading | --queue] [--pairs N] [--runs N] [--only NAME...] [--take5 PATH] [--folder DIR]
          [--write FILE]

    Measures the composition against other ways to make the same: CPU, memory, time by the clock, pictures and bytes.

      --photos        measures photos instead, those that BENCH_PHOTO names or one that is made
      --reading       measures what lists cost the database, at 100,000 and at 1,000,000 posts
      --queue         measures the job queue against others, which 'make bench-queue' installs
      --pairs N       runs of each two that are compared, in turns; 9 unless told
      --runs N        runs of --queue; 5 unless told
      --only NAME...  measures these alone, or all whose names begin so
      --take5 PATH    the program to measure; unless told the one beside this program
      --folder DIR    keeps the clips that are measured with, and the outputs; .build/bench unless told
      --write FILE    writes the figures into a document too, between its two marks
      --help          this text

    There are:
      \(names.joined(separator: "\n  "))
    """
  }
}
