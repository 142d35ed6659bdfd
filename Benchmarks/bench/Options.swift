/// The parsed command line.
struct Options {
  private(set) var pairs = 9
  private(set) var only: [String] = []
  private(set) var take5: String?
  private(set) var folder = ".build/bench"
  private(set) var document: String?
  private(set) var asksForHelp = false
  private(set) var subject = Subject.composition
  /// The number of runs of the queue benchmark.
  private(set) var runs = 5

  /// The benchmark to run.
  enum Subject: String {
    case composition
    case photos = "--photos"
    case reading = "--reading"
    case queue = "--queue"
    case crowd = "--crowd"
    case fleet = "--fleet"
    case town = "--town"
    case footage = "--footage"

    /// The target of the Makefile that writes its figures into a document.
    var target: String {
      switch self {
      case .composition: "bench-video"
      case .photos: "bench-photo"
      case .reading: "bench-read"
      case .queue: "bench-queue"
      case .crowd: "bench-crowd"
      case .fleet: "bench-fleet"
      case .town: "bench-town"
      case .footage: "bench-service"
      }
    }
  }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw BenchError("\(option) requires a value; see --help") }
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
          throw BenchError("unknown option \(option); see --help")
        }
        self.subject = subject
      }
    }
  }

  private static func count(_ value: String, of option: String) throws -> Int {
    guard let count = Int(value), count > 0 else { throw BenchError("\(option) requires a number of at least 1") }
    return count
  }

  /// - Parameter names: the figures that `--only` accepts.
  static func help(names: [String]) -> String {
    """
    bench [--photos | --reading | --queue | --crowd | --fleet | --town | --footage] [--pairs N] [--runs N] [--only NAME...]
          [--take5 PATH] [--folder DIR] [--write FILE]

    Compares the composition with ffmpeg: CPU, memory, elapsed time, quality and size of the outputs.

      --photos        measures photos instead: the files that BENCH_PHOTO names, or a synthetic one
      --reading       measures the cost of lists in the database, with 100,000 and with 1,000,000 posts
      --queue         measures the job queue against others, which 'make bench-queue' installs
      --crowd         measures the latency of one client while another holds many connections, or occupies what it can
      --fleet         measures what many workers cost the database, which are simulated
      --town          measures how long a town waits that films in the same five minutes, with simulated machines
      --footage       measures nothing: renders the input clips, unless they exist
      --pairs N       the number of alternating runs of each comparison; default: 9
      --runs N        the number of runs of --queue; default: 5
      --only NAME...  measures only the figures with these names or prefixes; of --crowd the attacks that have them
      --take5 PATH    the program to measure; default: take5 in the folder of this program
      --folder DIR    the folder for the input clips and the outputs; default: .build/bench
      --write FILE    also writes the figures into a document, between its two markers
      --help          prints this text

    Figures:
      \(names.joined(separator: "\n  "))
    """
  }
}
