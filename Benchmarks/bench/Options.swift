/// What the command line asks for.
struct Options {
  private(set) var pairs = 9
  private(set) var only: [String] = []
  private(set) var take5: String?
  private(set) var folder = ".build/bench"
  private(set) var document: String?
  private(set) var asksForHelp = false
  private(set) var subject = Subject.composition
  /// How often the queue and its peers are measured.
  private(set) var runs = 5

  /// What is measured.
  enum Subject: String {
    case composition
    case photos = "--photos"
    case reading = "--reading"
    case queue = "--queue"
    case crowd = "--crowd"

    /// What writes its figures into a document.
    var target: String {
      switch self {
      case .composition: "bench-video"
      case .photos: "bench-photo"
      case .reading: "bench-read"
      case .queue: "bench-queue"
      case .crowd: "bench-crowd"
      }
    }
  }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw BenchError("\(option) needs a value; see --help") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--help": asksForHelp = true
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
      default:
        guard let subject = Subject(rawValue: option) else {
          throw BenchError("there is no option \(option); see --help")
        }
        self.subject = subject
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
    bench [--photos | --reading | --queue | --crowd] [--pairs N] [--runs N] [--only NAME...] [--take5 PATH]
          [--folder DIR] [--write FILE]

    Measures the composition against other ways to make the same: CPU, memory, time by the clock, pictures and bytes.

      --photos        measures photos instead, those that BENCH_PHOTO names or one that is made
      --reading       measures what lists cost the database, at 100,000 and at 1,000,000 posts
      --queue         measures the job queue against others, which 'make bench-queue' installs
      --crowd         measures what many connections from one address cost the requests of another
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
