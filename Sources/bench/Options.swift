/// What the command line asks for.
struct Options {
  static let help = """
    bench [--pairs N] [--take5 PATH] [--folder DIR]

    Measures what one composition costs: take5 against the ffmpeg command that makes the same outputs, on one thread.

      --pairs N      runs of each, in turns; 11 unless told
      --take5 PATH   the program to measure; unless told the one beside this program
      --folder DIR   keeps the clips that are measured with, and the outputs; .build/bench unless told
      --help         this text
    """

  private(set) var pairs = 11
  private(set) var take5: String?
  private(set) var folder = ".build/bench"
  private(set) var asksForHelp = false

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
      case "--pairs":
        guard let count = Int(try value(of: option)), count > 0 else {
          throw BenchError("--pairs takes a number of at least 1")
        }
        pairs = count
      default: throw BenchError("there is no option \(option); see --help")
      }
    }
  }
}
