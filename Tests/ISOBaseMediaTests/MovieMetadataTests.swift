import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("Metadata of a movie")
struct MovieMetadataTests {
  /// QuickTime's `meta` with names and texts.
  static func keyed(_ entries: [(String, String)]) -> [UInt8] {
    let keys = entries.flatMap { key, _ in
      bigEndian(UInt32(8 + key.utf8.count)) + Array("mdta".utf8) + Array(key.utf8)
    }
    let items = entries.enumerated().flatMap { index, entry in
      let data = box("data", bigEndian(UInt32(1)), bigEndian(UInt32(0)), Array(entry.1.utf8))
      return bigEndian(UInt32(8 + data.count)) + bigEndian(UInt32(index + 1)) + data
    }
    return box(
      "meta", box("hdlr", [UInt8](repeating: 0, count: 24)),
      box("keys", bigEndian(UInt32(0)), bigEndian(UInt32(entries.count)), keys), box("ilst", items))
  }

  @Test("a phone's keys tell of place and device by their names, and of the time of recording")
  func keys() {
    let metadata = MovieMetadata(
      movie: box("mvhd", [UInt8](repeating: 0, count: 100))
        + Self.keyed([
          ("com.apple.quicktime.location.ISO6709", "+52.5+13.4/"), ("com.apple.quicktime.model", "Telephone"),
          ("com.apple.quicktime.creationdate", "2022-11-06T13:26:52-0500"),
        ]))
    #expect(
      metadata.identifying == [
        Identification(kind: .place, key: "com.apple.quicktime.location.ISO6709"),
        Identification(kind: .device, key: "com.apple.quicktime.model"),
      ])
    #expect(metadata.recorded == 1_667_759_212)
  }

  @Test(
    "the movie header counts seconds since 1904, and a clock that was never set says nothing",
    arguments: [(3_750_603_812, 1_667_759_012), (0, nil), (100, nil)] as [(UInt32, Double?)])
  func header(time: UInt32, expected: Double?) {
    let header = box("mvhd", [0, 0, 0, 0], bigEndian(time), [UInt8](repeating: 0, count: 92))
    #expect(MovieMetadata(movie: header).recorded == expected)
  }

  @Test("sample entries tell of clean apertures and of Dolby Vision")
  func sampleEntry() throws {
    let aperture = box("clap", [100, 1, 50, 1, 0, 1, 0, 1].flatMap { bigEndian(UInt32($0)) })
    let vision = box("dvcC", [1, 0, 5 << 1, 0, 0x00] + [UInt8](repeating: 0, count: 19))
    let entry = box("hvc1", [UInt8](repeating: 0, count: 78), aperture, vision)
    let handler = box("hdlr", [UInt8](repeating: 0, count: 8) + Array("vide".utf8) + [UInt8](repeating: 0, count: 13))
    let table = box("minf", box("stbl", box("stsd", bigEndian(UInt32(0)), bigEndian(UInt32(1)), entry)))
    let header = box("tkhd", [UInt8](repeating: 0, count: 12), bigEndian(UInt32(7)), [UInt8](repeating: 0, count: 68))
    let metadata = MovieMetadata(movie: box("trak", header, box("mdia", handler, table)))
    let track = try #require(metadata.tracks.first)
    #expect(track.number == 7)
    #expect(track.sampleEntry == "hvc1")
    let part = try #require(track.cleanAperture?.samples(ofWidth: 120, height: 50))
    #expect(part == (10, 0, 100, 50))
    #expect(track.cleanAperture?.samples(ofWidth: 100, height: 50) == nil)
    #expect(track.cleanAperture?.samples(ofWidth: 60, height: 50) == nil)
    #expect(track.dolbyVision?.profile == 5)
    #expect(track.dolbyVision?.baseLayerCompatibility == 0)
  }

  @Test("whatever the bytes, reading them ends")
  func anything() {
    var state: UInt64 = 1
    for _ in 0..<2000 {
      let names = ["trak", "mdia", "minf", "stbl", "stsd", "udta", "meta", "keys", "ilst", "clap", "hdlr", "mvhd"]
      var bytes: [UInt8] = []
      while bytes.count < 200 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes += bigEndian(UInt32(truncatingIfNeeded: state >> 33) % 260)
        bytes += Array(names[Int(state >> 40) % names.count].utf8)
        bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: state >> 20), count: Int(state >> 50) % 20)
      }
      _ = MovieMetadata(movie: bytes)
    }
  }
}
