import BoxTesting

/// A track of a clip with sample tables, all of whose samples lie in one chunk.
struct TrackFixture {
  var handler = "vide"
  var format = "avc1"
  var width = 1920
  var height = 1080
  var samples = 150
  /// In ticks.
  var sampleDuration = 1
  /// The ticks of a second.
  var timescale = 30
  var sampleBytes = 10
  var chunkOffset = 0
  /// The boxes of the sample entry.
  var extensions: [UInt8] = []
  /// The edits: duration in thousandths of a second, start in ticks (-1: none), rate.
  var edits: [(duration: Int, start: Int, rate: Int)] = []
  /// A value of `ctts` for all samples.
  var compositionOffset: Int?

  var box: [UInt8] {
    let visual = zeros(6) + [0, 1] + zeros(16) + short(width) + short(height) + zeros(50)
    let entry = BoxTesting.box(format, handler == "soun" ? zeros(28) : visual, extensions)
    let tables = BoxTesting.box(
      "stbl", full("stsd", number(1), entry), full("stts", number(1), number(samples), number(sampleDuration)),
      compositionOffset.map { full("ctts", number(1), number(samples), number($0)) } ?? [],
      full("stsc", number(1), number(1), number(samples), number(1)),
      full("stsz", number(sampleBytes), number(samples)), full("stco", number(1), number(chunkOffset)))
    let name = BoxTesting.box("hdlr", zeros(8), Array(handler.utf8), zeros(12))
    let media = BoxTesting.box(
      "mdia", full("mdhd", zeros(8), number(timescale), number(samples * sampleDuration), zeros(4)), name,
      BoxTesting.box("minf", tables))
    let list = edits.flatMap { edit -> [UInt8] in
      number(edit.duration) + number(edit.start) + short(edit.rate) + [0, 0]
    }
    let edits = edits.isEmpty ? [] : BoxTesting.box("edts", full("elst", number(edits.count), list))
    return BoxTesting.box("trak", BoxTesting.box("tkhd", zeros(84)), edits, media)
  }
}

/// A `moov` box with tracks, in thousandths of a second.
func movie(of tracks: [TrackFixture], extra: [UInt8] = []) -> [UInt8] {
  box("moov", full("mvhd", zeros(8), number(1000), zeros(84)), tracks.flatMap(\.box), extra)
}

/// A clip whose index stands in front of its media data.
func clip(_ tracks: [TrackFixture], mediaBytes: Int = 3000, extra: [UInt8] = []) -> [UInt8] {
  let start = fileType("isom")
  let offset = start.count + movie(of: tracks, extra: extra).count + 8
  let tracks = tracks.map { track in
    var track = track
    track.chunkOffset = track.chunkOffset == 0 ? offset : track.chunkOffset
    return track
  }
  return start + movie(of: tracks, extra: extra) + box("mdat", [UInt8](repeating: 0x55, count: mediaBytes))
}

func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
func number(_ value: Int) -> [UInt8] { bigEndian(Int32(truncatingIfNeeded: value)) }
func short(_ value: Int) -> [UInt8] { bigEndian(UInt16(value)) }

/// A box with a version and flags of 0.
func full(_ type: String, _ content: [UInt8]...) -> [UInt8] { box(type, zeros(4), content.flatMap { $0 }) }
