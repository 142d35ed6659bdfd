package import Model

/// The content of a `moov` box that demuxers skip: the time of recording, identifying metadata, and extensions of
/// sample entries.
package struct MovieMetadata: Hashable, Sendable {
  /// The start of recording in seconds since 1970; nil if the file has none.
  package let recorded: Double?
  /// The duration of the longest track in seconds, in whole microseconds as FFmpeg has it; nil if the file states none, or
  /// has fragments, which it does not count.
  package let duration: Double?
  /// Identifying metadata without repetitions, in the order of the file.
  package let identifying: [IdentifyingMetadata]
  package let tracks: [TrackMetadata]
  /// The names of all user data and metadata.
  package let names: [String]

  /// The maximum number of entries in `identifying`, which are part of messages and verdicts; phones write about ten.
  static let maxIdentifying = 64

  /// - Parameters:
  ///   - content: the content of the `moov` box, without its header.
  ///   - outside: the identifying metadata of top-level boxes.
  package init(movie content: [UInt8], outside: [IdentifyingMetadata] = []) {
    let movie = Box(type: "moov", content: content[...])
    let trackBoxes = movie.children().filter { $0.type == "trak" }
    let header = movie.child("mvhd")?.reader
    let timescale = header?.unsigned32(at: header?.byte(at: 0) == 1 ? 20 : 12) ?? 0
    let ticks = header?.byte(at: 0) == 1 ? header?.unsigned64(at: 24) : header?.unsigned32(at: 16).map(UInt64.init)
    duration = movie.child("mvex") == nil ? ticks.flatMap { Self.seconds($0, timescale: timescale) } : nil
    tracks = trackBoxes.map { TrackMetadata($0, movieTimescale: timescale) }
    var found: [IdentifyingMetadata] = []
    var names: [String] = []
    var creationDate: String?
    func read(_ metadata: KeyedMetadata) {
      creationDate = creationDate ?? metadata.value(of: "com.apple.quicktime.creationdate")
      names += metadata.keys + metadata.items.map(\.latin)
      found += metadata.keys.compactMap { IdentifyingMetadata.key($0) }
      found += metadata.items.compactMap { IdentifyingMetadata.userData($0) }
    }
    for box in Array(movie.children()) + trackBoxes.flatMap({ $0.children() }) {
      switch box.type {
      case "udta":
        for item in box.children() {
          if item.type == "meta" {
            read(KeyedMetadata(item))
          } else {
            names.append(item.type.latin)
            if let identification = IdentifyingMetadata.userData(item) { found.append(identification) }
          }
        }
      case "meta": read(KeyedMetadata(box))
      case "uuid", "gps ":
        names.append(box.type.latin)
        if let identification = IdentifyingMetadata.userData(box) { found.append(identification) }
      default: break
      }
    }
    found += trackBoxes.compactMap(Self.timed)
    found += outside
    var seen: Set<IdentifyingMetadata> = []
    identifying = Array(found.filter { seen.insert($0).inserted }.prefix(Self.maxIdentifying))
    self.names = names
    recorded = creationDate.flatMap(RecordingTime.seconds(iso8601:)) ?? RecordingTime.seconds(movieHeader: movie)
  }

  /// The identifying metadata of a track that is neither video nor audio.
  private static func timed(_ track: Box) -> IdentifyingMetadata? {
    let media = track.child("mdia")
    let handler = media?.child("hdlr")?.reader.unsigned32(at: 8).map { BoxType(code: $0) }
    guard handler != "vide", handler != "soun" else { return nil }
    return media?.descendant("minf", "stbl", "stsd")?.children(after: 8).first.flatMap(IdentifyingMetadata.timed)
  }
}

extension MovieMetadata {
  private static func seconds(_ ticks: UInt64, timescale: UInt32) -> Double? {
    // The product fits.
    guard timescale > 0, ticks < 1 << 43 else { return nil }
    let scale = UInt64(timescale)
    return Double((ticks * 2_000_000 + scale) / (2 * scale)) / 1e6
  }
}

/// A `meta` box with an item list, whose items have names from `keys` or types of four characters (Apple, QuickTime
/// File Format, "Metadata").
struct KeyedMetadata {
  /// The names in `keys`.
  let keys: [String]
  /// The types of the items if there are no names.
  let items: [BoxType]
  private let list: Box?

  // The maximum number of names, and of the bytes that are read of each: names of phones are reverse domain names.
  private static let maxNames = 1024
  private static let maxNameBytes = 256

  init(_ meta: Box) {
    // A full box in ISO files, a plain box in QuickTime files: version and flags of a full box are zero.
    let isFull = meta.reader.unsigned32(at: 0) == 0
    let children = meta.children(after: isFull ? 4 : 0)
    let names = children.first { $0.type == "keys" }
    list = children.first { $0.type == "ilst" }
    keys = names.map(Self.keys) ?? []
    items = keys.isEmpty ? list?.children().map(\.type) ?? [] : []
  }

  /// The text of the item with a name.
  func value(of key: String) -> String? {
    guard let index = keys.firstIndex(of: key) else { return nil }
    // Items refer to names by index, from 1.
    let item = list?.children().first { $0.type == BoxType(code: UInt32(index + 1)) }
    guard let data = item?.child("data"), data.content.count > 8 else { return nil }
    return data.reader.text(at: 8, count: data.content.count - 8)
  }

  private static func keys(_ box: Box) -> [String] {
    var keys: [String] = []
    var offset = 8
    // Each entry consists of size, namespace and name.
    while let size = box.reader.unsigned32(at: offset), size >= 8, Int(size) <= box.content.count - offset,
      keys.count < maxNames, let name = box.reader.text(at: offset + 8, count: min(Int(size) - 8, maxNameBytes))
    {
      keys.append(name)
      offset += Int(size)
    }
    return keys
  }
}

/// Parses the time of recording.
enum RecordingTime {
  // The offset between the epochs of QuickTime and Unix.
  private static let seconds1904To1970 = 2_082_844_800.0
  // 2000 to 2099: other times come from clocks that were never set.
  private static let plausible = 946_684_800.0..<4_102_444_800.0

  /// The creation time of the movie header (ISO/IEC 14496-12, 8.2.2), which counts seconds since 1904 in UTC.
  static func seconds(movieHeader movie: Box) -> Double? {
    guard let reader = movie.child("mvhd")?.reader else { return nil }
    let time = reader.byte(at: 0) == 1 ? reader.unsigned64(at: 4) : reader.unsigned32(at: 4).map(UInt64.init)
    guard let time else { return nil }
    let seconds = Double(time) - seconds1904To1970
    return plausible.contains(seconds) ? seconds : nil
  }

  /// A time in nanoseconds since 2001 in UTC, as Matroska has it (RFC 8794, 7.6).
  static func seconds(since2001 nanoseconds: Int64) -> Double? {
    let seconds = Double(nanoseconds) / 1e9 + 978_307_200
    return plausible.contains(seconds) ? seconds : nil
  }

  /// A time such as `2022-11-06T13:26:52-0500` (ISO 8601).
  static func seconds(iso8601 text: String) -> Double? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
      guard range.upperBound <= bytes.count else { return nil }
      return bytes[range].reduce(0 as Int?) { sum, byte in
        sum.flatMap { (0x30...0x39).contains(byte) ? $0 * 10 + Int(byte) - 0x30 : nil }
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var zone = bytes.dropFirst(19).drop { $0 != 0x2B && $0 != 0x2D && $0 != 0x5A }
    var offset = 0
    if let sign = zone.popFirst(), sign != 0x5A {
      let digits = zone.filter { $0 != 0x3A }.compactMap { (0x30...0x39).contains($0) ? Int($0) - 0x30 : nil }
      guard digits.count >= 2 else { return nil }
      let minutes = digits.count >= 4 ? digits[2] * 10 + digits[3] : 0
      offset = ((digits[0] * 10 + digits[1]) * 60 + minutes) * (sign == 0x2D ? -60 : 60)
    }
    let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return plausible.contains(Double(seconds)) ? Double(seconds) : nil
  }

  /// Days since 1970-01-01 in the Gregorian calendar.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let century = year / 400
    let inCentury = year - century * 400
    let inYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return century * 146_097 + inCentury * 365 + inCentury / 4 - inCentury / 100 + inYear - 719_468
  }
}
