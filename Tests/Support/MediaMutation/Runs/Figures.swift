import Platform

/// The figures of the recorded ranges, as a table of a document between two markers.
package struct Figures {
  private static let (startMarker, endMarker) = ("<!-- mutations -->", "<!-- end of mutations -->")
  private static let stages = [
    (Outcome.Depth.walked, "the walk accepts the boxes, or the format of the photo is known"),
    (.probed, "the headers describe a video or an image"), (.decoded, "a decoder decodes"),
    (.composed, "all outputs are made"), (.published, "the outputs are stored and hold the strict check"),
  ]

  private let parts: [(name: String, records: [RangeRecord], tally: Tally)]

  package init(_ records: [RangeRecord]) {
    let names = Set(records.map(\.part)).sorted()
    parts = (names.filter { $0 == "parsers" } + names.filter { $0 != "parsers" }).map { Self.part($0, records) }
  }

  private static func part(
    _ name: String, _ records: [RangeRecord]
  ) -> (name: String, records: [RangeRecord], tally: Tally) {
    let own = records.filter { $0.part == name }
    var tally = Tally()
    for record in own { tally.merge(record.tally) }
    return (name, own, tally)
  }

  /// The table in Markdown.
  package var table: String {
    var rows = [row("") { $0.name }, "|---|" + parts.map { _ in "---|" }.joined()]
    rows.append(row("mutations") { "\($0.tally.total), of the seeds \(Self.seeds($0.records))" })
    rows.append(row("date") { $0.records.map(\.date).max() ?? "" })
    for (depth, text) in Self.stages {
      rows.append(
        row(text) {
          $0.name == "parsers" && depth.rawValue > Outcome.Depth.probed.rawValue ? "" : Self.share($0.tally, depth)
        })
    }
    rows.append(row("accepted") { "\($0.tally.counts["accepted"] ?? 0)" })
    rows.append(
      row("refused with a code") { part in
        part.tally.endings("refused ").map { ending in
          "\(ending.count) " + ending.name.split(separator: " ").map { "`\($0)`" }.joined(separator: " ")
        }.joined(separator: ", ")
      })
    rows.append(row("failed without a code") { part in "\(part.tally.endings("failed ").reduce(0) { $0 + $1.count })" })
    rows.append(row("violations") { "\($0.tally.counts["violated"] ?? 0)" })
    rows.append(
      row("growth of memory, and of the fork server's") { part in
        (0..<2).map { index in part.records.map { $0.growth[index] }.max() ?? 0 }
          .map { "\(max(0, $0) >> 10) KiB" }.joined(separator: ", ")
      })
    rows.append(row("duration") { part in "\(Int(part.records.reduce(0) { $0 + $1.seconds }.rounded())) s" })
    return rows.joined(separator: "\n")
  }

  private func row(
    _ title: String, _ value: ((name: String, records: [RangeRecord], tally: Tally)) -> String
  ) -> String {
    "| \(title) | " + parts.map(value).joined(separator: " | ") + " |"
  }

  private static func share(_ tally: Tally, _ depth: Outcome.Depth) -> String {
    let count = tally.count(reaching: depth)
    return "\(count), \((1000 * count / max(1, tally.total) + 5) / 10) %"
  }

  /// The seeds of the records as ranges.
  private static func seeds(_ records: [RangeRecord]) -> String {
    var ranges: [(start: UInt64, end: UInt64)] = []
    for record in records.sorted(by: { $0.start < $1.start }) {
      if let last = ranges.last, last.end == record.start {
        ranges[ranges.count - 1].end = record.end
      } else {
        ranges.append((record.start, record.end))
      }
    }
    return ranges.map { "\($0.start)..<\($0.end)" }.joined(separator: ", ")
  }

  /// Replaces the text between the markers of a document.
  package func write(to path: String) throws {
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    guard let start = text.firstRange(of: Self.startMarker), let end = text.firstRange(of: Self.endMarker) else {
      throw MissingMarkers(path: path)
    }
    let changed = text[..<start.upperBound] + "\n" + table + "\n" + text[end.lowerBound...]
    try Descriptor(writing: path, replacing: true).write(Array(changed.utf8))
  }
}

/// A document without the markers of its figures.
struct MissingMarkers: Error, CustomStringConvertible {
  let path: String
  var description: String { "\(path) has no markers for the figures of mutations" }
}
