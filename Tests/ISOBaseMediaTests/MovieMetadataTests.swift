import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("Movie metadata")
struct MovieMetadataTests {
  /// A `meta` box of QuickTime with keys and texts.
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

  @Test("keys identify place and device, and give the time of recording")
  func keys() {
    let metadata = MovieMetadata(
      movie: box("mvhd", [UInt8](repeating: 0, count: 100))
        + Self.keyed([
          ("com.apple.quicktime.location.ISO6709", "+52.5+13.4/"), ("com.apple.quicktime.model", "Telephone"),
          ("com.apple.quicktime.creationdate", "2022-11-06T13:26:52-0500"),
        ]))
    #expect(
      metadata.identifying == [
        IdentifyingMetadata(kind: .place, key: "com.apple.quicktime.location.ISO6709"),
        IdentifyingMetadata(kind: .device, key: "com.apple.quicktime.model"),
      ])
    #expect(metadata.recorded == 1_667_759_212)
  }

  @Test(
    "the movie header sets the duration, in whole microseconds",
    arguments: [
      ([0, 0, 0, 0] + bigEndian(UInt64(0)) + bigEndian(UInt32(600)) + bigEndian(UInt32(3001)), 5.001667),
      ([1] + [UInt8](repeating: 0, count: 19) + bigEndian(UInt32(48_000)) + bigEndian(UInt64(3)), 6.3e-5),
      ([1] + [UInt8](repeating: 0, count: 19) + bigEndian(UInt32(1)) + bigEndian(UInt64.max), nil),
      ([0, 0, 0, 0] + bigEndian(UInt64(0)) + bigEndian(UInt32(0)) + bigEndian(UInt32(3000)), nil),
      ([0, 0, 0, 0] + bigEndian(UInt64(0)), nil),
    ] as [([UInt8], Double?)])
  func duration(header: [UInt8], seconds: Double?) {
    #expect(MovieMetadata(movie: box("mvhd", header)).duration == seconds)
    #expect(MovieMetadata(movie: box("mvhd", header) + box("mvex", [])).duration == nil)
  }

  /// The UUID of the XMP box (Adobe, XMP Specification, part 3).
  static let xmp: [UInt8] = [
    0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
  ]
  static let placed = Array("<rdf:Description exif:GPSLatitude='52,31.2N'/>".utf8)
  static let described = Array("<rdf:Description dc:title='Lake'/>".utf8)

  /// An entry of user data whose type starts with ©.
  static func apple(_ name: String) -> [UInt8] {
    var bytes = box("?" + name, [0, 1, 0, 0, 65])
    bytes[4] = 0xA9
    return bytes
  }

  /// A metadata track with a sample entry.
  static func timed(_ format: String, handler: String = "meta", _ content: [UInt8] = []) -> [UInt8] {
    let entry = box(format, [UInt8](repeating: 0, count: 8) + content)
    let table = box("minf", box("stbl", box("stsd", bigEndian(UInt32(0)), bigEndian(UInt32(1)), entry)))
    let name = [UInt8](repeating: 0, count: 8) + Array(handler.utf8) + [UInt8](repeating: 0, count: 12)
    return box("trak", box("mdia", box("hdlr", name), table))
  }

  static let entries: [(bytes: [UInt8], kind: IdentifyingMetadata.Kind?, key: String)] = [
    (box("uuid", xmp, placed), .place, "XMP"), (box("uuid", xmp, described), .other, "XMP"),
    (box("udta", box("uuid", xmp, placed)), .place, "XMP"), (box("udta", box("XMP_", placed)), .place, "XMP_"),
    (box("trak", box("uuid", xmp, placed)), .place, "XMP"),
    (box("uuid", [UInt8](repeating: 7, count: 20)), .other, "uuid"), (box("uuid"), .other, "uuid"),
    (box("udta", apple("xyz")), .place, "©xyz"), (box("udta", apple("mak")), .device, "©mak"),
    (box("udta", apple("dir")), .person, "©dir"), (box("udta", apple("too")), nil, ""),
    (box("udta", box("loci", [1])), .place, "loci"), (box("udta", box("auth", [1])), .person, "auth"),
    (box("udta", box("albm", [1])), .other, "albm"), (box("udta", box("cprt", [1])), .other, "cprt"),
    (box("udta", box("Xtra", [1])), .other, "Xtra"), (box("udta", box("PANA", [1])), .device, "PANA"),
    (box("udta", box("smta", [1])), .device, "smta"), (box("udta", box("GPMF", [1])), .place, "GPMF"),
    (box("trak", box("udta", box("loci", [1]))), .place, "loci"), (box("udta", box("QQQQ", [1])), .other, "QQQQ"),
    (box("udta", [UInt8](repeating: 0, count: 12)), nil, ""), (box("gps ", [1]), .place, "gps "),
    (box("trak", keyed([("com.apple.quicktime.location.name", "Lake")])), .place, "com.apple.quicktime.location.name"),
    (timed("gpmd"), .place, "gpmd"), (timed("camm"), .place, "camm"), (timed("djmd"), .place, "djmd"),
    (timed("rtmd"), .device, "rtmd"), (timed("mett"), .other, "mett"), (timed("tmcd", handler: "tmcd"), nil, ""),
    (timed("tx3g", handler: "sbtl"), .other, "tx3g"), (timed("mebx"), .other, "mebx"),
    (timed("avc1", handler: "vide"), nil, ""), (timed("mp4a", handler: "soun"), nil, ""),
  ]

  @Test("known names of metadata about place, device and person are classified", arguments: entries)
  func classification(bytes: [UInt8], kind: IdentifyingMetadata.Kind?, key: String) {
    #expect(MovieMetadata(movie: bytes).identifying == (kind.map { [IdentifyingMetadata(kind: $0, key: key)] } ?? []))
  }

  @Test(
    "the movie header counts seconds since 1904, and implausible times are ignored",
    arguments: [(3_750_603_812, 1_667_759_012), (0, nil), (100, nil)] as [(UInt32, Double?)])
  func header(time: UInt32, expected: Double?) {
    let header = box("mvhd", [0, 0, 0, 0], bigEndian(time), [UInt8](repeating: 0, count: 92))
    #expect(MovieMetadata(movie: header).recorded == expected)
  }

  @Test("clean aperture and Dolby Vision are parsed in sample entries")
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

  @Test("the number of entries that are reported, and the bytes of their names, are limited")
  func manyKeys() {
    let long = String(repeating: "x", count: 300)
    let metadata = MovieMetadata(movie: Self.keyed((0..<1500).map { ("com.example.\($0).\(long)", "") }))
    #expect(metadata.identifying.count == 64)
    #expect(metadata.identifying.allSatisfy { $0.key.utf8.count == 256 })
    #expect(metadata.names.count == 1024)
  }

  @Test("parsing of random boxes ends")
  func randomBoxes() {
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
