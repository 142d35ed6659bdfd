import BoxTesting
import ISOBaseMedia
import Model
import Testing

struct ContainerWalkerTests {
  private static func examine(_ bytes: [UInt8]) -> Result<ContainerStructure, ContainerRefusal> {
    ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
  }

  private static func refusal(_ bytes: [UInt8]) -> ContainerRefusal? {
    if case .failure(let refusal) = examine(bytes) { refusal } else { nil }
  }

  @Test(arguments: [
    (fileType("isom") + movie("vide") + mediaData, ContainerName.mp4, true),
    (fileType("mp42") + mediaData + movie("soun", "vide"), .mp4, false),
    (fileType("qt  ") + box("wide") + mediaData + movie("vide", "meta", "meta"), .mov, false),
    (fileType("3gp4") + movie("vide", "soun") + mediaData, .threeGP, true),
    (fileType("3g2a") + movie("vide") + mediaData, .threeGP, true),
    (movie("vide") + mediaData, .mov, true),
    (box("wide") + mediaData + movie("vide"), .mov, false),
    (box("free", [1, 2]) + box("skip") + mediaData + movie("vide"), .mov, false),
    (box("pnot", [0, 0]) + mediaData + movie("vide"), .mov, false),
  ])
  func tellsFamilyAndOrder(bytes: [UInt8], family: ContainerName, isFastStart: Bool) throws {
    let structure = try Self.examine(bytes).get()
    #expect(structure.family == family)
    #expect(structure.isFastStart == isFastStart)
    #expect(!structure.isFragmented)
    #expect(structure.handlers.contains("vide"))
  }

  @Test func tellsWhereMovieAndMediaDataLie() throws {
    let start = fileType("isom") + box("free", [UInt8](repeating: 0, count: 9000))
    let structure = try Self.examine(start + mediaData + movie("vide", "soun")).get()
    #expect(structure.mediaDataOffset == Int64(start.count))
    #expect(structure.movieOffset == Int64(start.count + mediaData.count))
    #expect(structure.handlers == ["vide", "soun"])
    #expect(structure.majorBrand == "isom")
  }

  @Test("Boxes outside of the movie give away place and device too")
  func tellsWhatLiesOutside() throws {
    let film = fileType("isom") + movie("vide") + mediaData
    func identifying(_ boxes: [UInt8]) throws -> [IdentifyingMetadata] {
      try Self.examine(film + boxes).get().identifying
    }
    #expect(try identifying(box("free", [1, 2]) + box("skip")) == [])
    let placed = box("uuid", MovieMetadataTests.xmp, MovieMetadataTests.placed)
    #expect(try identifying(placed) == [IdentifyingMetadata(kind: .place, key: "XMP")])
    #expect(try identifying(box("uuid", [1, 2])) == [IdentifyingMetadata(kind: .other, key: "uuid")])
    #expect(try identifying(box("sefd", [1])) == [IdentifyingMetadata(kind: .device, key: "sefd")])
    #expect(try identifying(box("meta", [0, 0, 0, 0])) == [IdentifyingMetadata(kind: .other, key: "meta")])
    let outside = [IdentifyingMetadata(kind: .device, key: "sefd")]
    #expect(MovieMetadata(movie: [], outside: outside + outside).identifying == outside)
  }

  @Test func readsSizesOf64BitsAndSizesToTheEnd() throws {
    let toTheEnd = bigEndian(UInt32(0)) + Array("mdat".utf8) + [1, 2, 3]
    #expect(throws: Never.self) { try Self.examine(movie("vide") + largeBox("mdat", [1, 2, 3])).get() }
    #expect(throws: Never.self) { try Self.examine(movie("vide") + toTheEnd).get() }
  }

  @Test func tellsFragmentedFiles() throws {
    let fragments = movie("vide", extra: box("mvex")) + box("moof", [0, 0]) + mediaData + box("moof") + mediaData
    #expect(try Self.examine(fileType("iso5") + fragments).get().isFragmented)
  }

  @Test(arguments: [
    ("#EXTM3U\n#EXT-X-VERSION:3\nhttp://example.org/a.ts\n", "an HLS playlist"),
    ("\u{FEFF}\n#EXTM3U\n", "an HLS playlist"),
    ("ffconcat version 1.0\nfile /etc/passwd\n", "an ffconcat list"),
    ("hello", "a text file"),
    ("moov is a word, as mdat is\n", "a text file"),
    ("RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ", "a WebP picture"),
    ("\u{0}\u{0}", "of a kind that is not known here"),
  ])
  func namesTextsAndOtherKinds(text: String, name: String) {
    let refusal = Self.refusal(Array(text.utf8))
    if name.contains("known") {
      // Two zero bytes may be the start of anything: it is cut short at best.
      #expect(refusal == .truncated(finding: "it ends inside the header of a box", offset: 0))
    } else {
      #expect(Self.name(refusal) == name)
    }
  }

  /// What a file is that is no container.
  private static func name(_ refusal: ContainerRefusal?) -> String? {
    if case .unsupported(let found) = refusal { found.name } else { nil }
  }

  @Test(
    arguments: [
      ([0x1A, 0x45, 0xDF, 0xA3, 1, 2, 3, 4], "a WebM or Matroska file"),
      ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46], "a JPEG picture"),
      ([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10], "a PNG picture"),
      ([UInt8](repeating: 0, count: 64), "of a kind that is not known here"),
      ([UInt8](repeating: 0xFF, count: 64), "of a kind that is not known here"),
    ] as [([UInt8], String)])
  func namesOtherBinaryFiles(bytes: [UInt8], name: String) { #expect(Self.name(Self.refusal(bytes)) == name) }

  @Test(arguments: ["heic", "heix", "mif1", "msf1", "avif", "avis"])
  func picturesInBoxesAreNoVideos(brand: String) throws {
    let refusal = try #require(Self.refusal(fileType(brand) + movie("vide") + mediaData))
    guard case .unsupported = refusal else {
      Issue.record("\(refusal)")
      return
    }
  }

  @Test func refusesTheEmptyFile() { #expect(Self.refusal([]) == .empty) }

  @Test func refusesFilesWithoutPicture() {
    #expect(Self.refusal(movie("soun", "meta") + mediaData) == .noVideoTrack(handlers: ["soun", "meta"]))
    #expect(Self.refusal(movie() + mediaData) == .noVideoTrack(handlers: []))
  }

  @Test func refusesWhatLacksAMovieOrItsData() throws {
    let noMovie = fileType("isom") + mediaData
    #expect(Self.refusal(noMovie)?.offset == Int64(noMovie.count))
    #expect(Self.refusal(noMovie)?.description.contains("'moov'") == true)
    #expect(Self.refusal(fileType("isom") + movie("vide"))?.description.contains("'mdat'") == true)
    #expect(Self.refusal(box("moof") + mediaData)?.description.contains("'moov'") == true)
  }

  @Test("A box that reaches past the end is named, with where it begins")
  func namesTheBoxThatWasCut() {
    let bytes = fileType("isom") + movie("vide") + mediaData
    let start = bytes.count - mediaData.count
    #expect(
      Self.refusal(bytes.dropLast(20))
        == .truncated(
          finding: "the box 'mdat' says that it is 58 bytes long, but the file ends after 38 of them",
          offset: Int64(start)))
  }

  @Test(arguments: [
    fileType("isom") + bigEndian(UInt32(7)) + Array("moov".utf8) + mediaData,
    fileType("isom") + bigEndian(UInt32(1)) + Array("moov".utf8) + bigEndian(UInt64(15)) + mediaData,
    fileType("isom") + box("moov", bigEndian(UInt32(500)) + Array("trak".utf8)) + mediaData,
    fileType("isom") + box("moov", box("trak", box("mdia", box("hdlr", [0])))) + mediaData,
    box("ftyp", [1, 2]) + movie("vide") + mediaData,
    movie("vide") + (0..<10_001).flatMap { _ in box("free") } + mediaData,
  ])
  func refusesBoxesThatContradictThemselves(bytes: [UInt8]) throws {
    guard case .damaged(_, let offset)? = Self.refusal(bytes) else {
      Issue.record("\(Self.examine(bytes))")
      return
    }
    #expect(offset < bytes.count)
  }

  @Test func sizesBeyondEveryFileDoNotOverflow() {
    let huge = bigEndian(UInt32(1)) + Array("mdat".utf8)
    for size in [UInt64.max, UInt64(Int64.max), UInt64(Int64.max) - 4, 1 << 40] {
      guard case .truncated? = Self.refusal(movie("vide") + huge + bigEndian(size) + [0]) else {
        Issue.record("a box of \(size) bytes was believed")
        continue
      }
    }
  }

  @Test(
    "A file cut at any byte is refused as cut",
    arguments: [
      fileType("isom") + movie("vide", "soun") + mediaData, fileType("qt  ") + mediaData + movie("vide", "meta"),
    ])
  func refusesEveryTruncation(bytes: [UInt8]) throws {
    for count in 1..<bytes.count {
      guard case .truncated(_, let offset)? = Self.refusal(Array(bytes[..<count])) else {
        Issue.record("cut at \(count): \(Self.examine(Array(bytes[..<count])))")
        continue
      }
      #expect(offset <= count)
    }
    #expect(Self.refusal(bytes) == nil)
  }

  @Test("What phones leave behind a whole file is no cut, but behind a fragment it is")
  func allowsRests() {
    for count in 1...40 {
      #expect(Self.refusal(movie("vide") + mediaData + [UInt8](repeating: 0, count: count)) == nil)
    }
    #expect(Self.refusal(movie("vide") + mediaData + [0xAB, 0xCD]) == nil)
    let fragmented = movie("vide", extra: box("mvex")) + box("moof") + mediaData
    #expect(Self.refusal(fragmented + [0xAB, 0xCD])?.offset == Int64(fragmented.count))
  }

  @Test("Whatever bytes are flipped, an answer comes after few reads")
  func survivesFlippedBytes() {
    let bytes =
      fileType("isom") + box("free", [UInt8](repeating: 0, count: 40)) + movie("vide", "soun", extra: box("mvex"))
      + box("moof", [0, 0]) + mediaData
    var random = SplitMix64(seed: 42)
    for _ in 0..<20_000 {
      var flipped = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        flipped[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var reads = 0
      _ = ContainerWalker.examine(size: Int64(flipped.count)) { offset, count throws(Never) in
        reads += 1
        #expect(offset >= 0 && count >= 0)
        return Array(flipped.dropFirst(Int(offset)).prefix(count))
      }
      #expect(reads <= 2)
    }
  }

  @Test func whatTheReaderThrowsComesThrough() {
    struct Unreadable: Error {}
    #expect(throws: Unreadable.self) {
      try ContainerWalker.examine(size: 100) { _, _ throws(Unreadable) in throw Unreadable() }
    }
  }
}

/// A small generator that gives the same numbers for the same seed (Steele, Lea, Flood, OOPSLA 2014).
private struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
