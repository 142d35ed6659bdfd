/// What the measurement says, for people and for programs.
struct Report {
  let pairs: [CompositionBenchmark.Pair]

  /// A table, what it leaves out, and a line for each figure.
  var text: String {
    let rows: [(name: String, values: [Double])] = [
      ("take5, CPU s", pairs.map(\.take5.processor)), ("ffmpeg, CPU s", pairs.map(\.ffmpeg.processor)),
      ("take5 / ffmpeg, CPU", processorRatios), ("take5, s by the clock", pairs.map(\.take5.elapsed)),
      ("ffmpeg, s by the clock", pairs.map(\.ffmpeg.elapsed)), ("take5 / ffmpeg, clock", clockRatios),
    ]
    let head = Self.row("\(pairs.count) pairs", ["median", "min", "max"])
    let table = rows.map { row in
      let statistics = Statistics(row.values)
      return Self.row(row.name, [statistics.median, statistics.least, statistics.greatest].map(Self.number))
    }
    return ([head] + table + ["", Self.remarks, ""] + figures).joined(separator: "\n")
  }

  private static let remarks = """
    One composition of two clips of 1080x1920, 5 s, with all outputs of the definition take5-post, the same x264 settings
    and one thread on both sides. CPU is user and system time of every process, the media process and both ffprobe
    included; ratios are taken pair by pair.
    Left out: upload, queue, database and store, which the command does not have. Not the same: take5 also judges every
    frame of both clips and makes placeholder hashes, halves the inset's picture before it scales it bicubically, and
    writes progressive JPEG of quality 80 and 75; ffmpeg scales bicubically at once and writes baseline JPEG at -q:v 3.
    """

  private var processorRatios: [Double] { pairs.map { $0.take5.processor / $0.ffmpeg.processor } }
  private var clockRatios: [Double] { pairs.map { $0.take5.elapsed / $0.ffmpeg.elapsed } }

  private var figures: [String] {
    let name = "video.cpu.same_settings_1080"
    return [
      "figure \(name).seconds \(Self.number(Statistics(pairs.map(\.take5.processor)).median))",
      "figure \(name).vs_ffmpeg \(Self.number(Statistics(processorRatios).median))",
    ]
  }

  private static func row(_ name: String, _ cells: [String]) -> String {
    name + String(repeating: " ", count: max(1, 26 - name.count))
      + cells.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
  }

  /// Three decimals, without Foundation.
  private static func number(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let decimals = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - decimals.count) + decimals
  }
}
