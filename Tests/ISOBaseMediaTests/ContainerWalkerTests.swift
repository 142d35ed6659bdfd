import BoxTesting
import ISOBaseMedia
import Model
import SeededRandom
import Testing

@Suite("Boxes of a clip")
struct ContainerWalkerTests {
  private static func examine(_ bytes: [UInt8]) -> Result<ContainerStructure, ContainerRefusal> {
    ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
  }

  private static func refusal(_ bytes: [UInt8]) -> ContainerRefusal? {
    if case .failure(let refusal) = examine(bytes) { refusal } else { nil }
  }

  @Test(
    "the container family and the order of the boxes are reported",
    arguments: [
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
  func familyAndOrder(bytes: [UInt8], family: ContainerName, isFastStart: Bool) throws {
    let structure = try Self.examine(bytes).get()
    #expect(structure.family == family)
    #expect(structure.isFastStart == isFastStart)
    #expect(!structure.isFragmented)
    #expect(structure.handlers.contains("vide"))
  }

  @Test("the offsets of moov and mdat are reported")
  func offsets() throws {
    let start = fileType("isom") + box("free", [UInt8](repeating: 0, count: 9000))
    let structure = try Self.examine(start + mediaData + movie("vide", "soun")).get()
    #expect(structure.mediaDataOffset == Int64(start.count))
    #expect(structure.movieOffset == Int64(start.count + mediaData.count))
    #expect(structure.handlers == ["vide", "soun"])
    #expect(structure.majorBrand == "isom")
  }

  @Test("top-level boxes may hold identifying metadata too")
  func topLevelMetadata() throws {
    let clip = fileType("isom") + movie("vide") + mediaData
    func identifying(_ boxes: [UInt8]) throws -> [IdentifyingMetadata] {
      try Self.examine(clip + boxes).get().identifying
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

  @Test("boxes inside of others are not entered, but those on the path to a track's tables")
  func nested() {
    let broken = bigEndian(UInt32(3)) + Array("trak".utf8)
    let nested = (0..<200).reduce(broken) { inner, _ in box("trak", inner) }
    for bytes in [movie("vide", extra: nested), movie("vide", extra: box("udta", broken))] {
      #expect(Self.refusal(fileType("isom") + bytes + mediaData) == nil)
    }
    let path = ["stbl", "minf", "mdia", "trak"].reduce(broken) { box($1, $0) }
    #expect(Self.refusal(fileType("isom") + movie("vide", extra: path) + mediaData) != nil)
  }

  @Test("the number of top-level boxes that are reported, and the bytes that are read of them, are limited")
  func manyTopLevelBoxes() throws {
    let uuid = box("uuid", [UInt8](repeating: 7, count: 100_000))
    let bytes = fileType("isom") + movie("vide") + mediaData + (0..<70).flatMap { _ in uuid }
    var longest = 0
    let examined = ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      longest = max(longest, count)
      return Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    #expect(try examined.get().identifying.count == 64)
    #expect(longest == 1 << 16)
  }

  @Test("boxes may have sizes of 64 bits, or extend to the end of the file")
  func sizes() throws {
    let toTheEnd = bigEndian(UInt32(0)) + Array("mdat".utf8) + [1, 2, 3]
    #expect(throws: Never.self) { try Self.examine(movie("vide") + largeBox("mdat", [1, 2, 3])).get() }
    #expect(throws: Never.self) { try Self.examine(movie("vide") + toTheEnd).get() }
  }

  @Test("fragmented files are recognized")
  func fragments() throws {
    let fragments = movie("vide", extra: box("mvex")) + box("moof", [0, 0]) + mediaData + box("moof") + mediaData
    #expect(try Self.examine(fileType("iso5") + fragments).get().isFragmented)
  }

  @Test(
    "other formats are named, text formats included",
    arguments: [
      ("#EXTM3U\n#EXT-X-VERSION:3\nhttp://example.org/a.ts\n", "an HLS playlist"),
      ("\u{FEFF}\n#EXTM3U\n", "an HLS playlist"),
      ("ffconcat version 1.0\nfile /etc/passwd\n", "an ffconcat list"),
      ("hello", "a text file"),
      ("moov is a word, as mdat is\n", "a text file"),
      ("RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ", "a WebP image"),
      ("\u{0}\u{0}", "of an unknown format"),
    ])
  func otherFormats(text: String, name: String) {
    let refusal = Self.refusal(Array(text.utf8))
    if name.contains("known") {
      // Two zero bytes may be the start of a box header.
      #expect(refusal == .truncated(finding: "it ends inside the header of a box", offset: 0))
    } else {
      #expect(Self.name(refusal) == name)
    }
  }

  /// The name of the format in a refusal.
  private static func name(_ refusal: ContainerRefusal?) -> String? {
    if case .unsupported(let found) = refusal { found.name } else { nil }
  }

  @Test(
    "binary formats are named",
    arguments: [
      ([0x1A, 0x45, 0xDF, 0xA3, 1, 2, 3, 4], "a WebM or Matroska file"),
      ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46], "a JPEG image"),
      ([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10], "a PNG image"),
      ([UInt8](repeating: 0, count: 64), "of an unknown format"),
      ([UInt8](repeating: 0xFF, count: 64), "of an unknown format"),
    ] as [([UInt8], String)])
  func binaryFormats(bytes: [UInt8], name: String) { #expect(Self.name(Self.refusal(bytes)) == name) }

  @Test("images in boxes are not clips", arguments: ["heic", "heix", "mif1", "msf1", "avif", "avis"])
  func images(brand: String) throws {
    let refusal = try #require(Self.refusal(fileType(brand) + movie("vide") + mediaData))
    guard case .unsupported = refusal else {
      Issue.record("\(refusal)")
      return
    }
  }

  @Test("an empty file is rejected")
  func empty() { #expect(Self.refusal([]) == .empty) }

  @Test("a file without a video track is rejected")
  func noVideoTrack() {
    #expect(Self.refusal(movie("soun", "meta") + mediaData) == .noVideoTrack(handlers: ["soun", "meta"]))
    #expect(Self.refusal(movie() + mediaData) == .noVideoTrack(handlers: []))
  }

  @Test("a file without moov or mdat is rejected")
  func missingBoxes() throws {
    let noMovie = fileType("isom") + mediaData
    #expect(Self.refusal(noMovie)?.offset == Int64(noMovie.count))
    #expect(Self.refusal(noMovie)?.description.contains("'moov'") == true)
    #expect(Self.refusal(fileType("isom") + movie("vide"))?.description.contains("'mdat'") == true)
    #expect(Self.refusal(box("moof") + mediaData)?.description.contains("'moov'") == true)
  }

  @Test("a box beyond the end of the file is named with its offset")
  func truncatedBox() {
    let bytes = fileType("isom") + movie("vide") + mediaData
    let start = bytes.count - mediaData.count
    #expect(
      Self.refusal(bytes.dropLast(20))
        == .truncated(
          finding: "the size of the box 'mdat' is 58 bytes, but the file ends after 38 bytes of it",
          offset: Int64(start)))
  }

  @Test(
    "inconsistent boxes are rejected",
    arguments: [
      fileType("isom") + bigEndian(UInt32(7)) + Array("moov".utf8) + mediaData,
      fileType("isom") + bigEndian(UInt32(1)) + Array("moov".utf8) + bigEndian(UInt64(15)) + mediaData,
      fileType("isom") + box("moov", bigEndian(UInt32(500)) + Array("trak".utf8)) + mediaData,
      fileType("isom") + box("moov", box("trak", box("mdia", box("hdlr", [0])))) + mediaData,
      box("ftyp", [1, 2]) + movie("vide") + mediaData,
      movie("vide") + (0..<10_001).flatMap { _ in box("free") } + mediaData,
    ])
  func inconsistentBoxes(bytes: [UInt8]) throws {
    guard case .damaged(_, let offset)? = Self.refusal(bytes) else {
      Issue.record("\(Self.examine(bytes))")
      return
    }
    #expect(offset < bytes.count)
  }

  @Test("sizes near 2^63 do not overflow")
  func hugeSizes() {
    let huge = bigEndian(UInt32(1)) + Array("mdat".utf8)
    for size in [UInt64.max, UInt64(Int64.max), UInt64(Int64.max) - 4, 1 << 40] {
      guard case .truncated? = Self.refusal(movie("vide") + huge + bigEndian(size) + [0]) else {
        Issue.record("a box of \(size) bytes was accepted")
        continue
      }
    }
  }

  @Test(
    "a file that is truncated at any byte is rejected as truncated",
    arguments: [
      fileType("isom") + movie("vide", "soun") + mediaData, fileType("qt  ") + mediaData + movie("vide", "meta"),
    ])
  func truncated(bytes: [UInt8]) throws {
    for count in 1..<bytes.count {
      guard case .truncated(_, let offset)? = Self.refusal(Array(bytes[..<count])) else {
        Issue.record("cut at \(count): \(Self.examine(Array(bytes[..<count])))")
        continue
      }
      #expect(offset <= count)
    }
    #expect(Self.refusal(bytes) == nil)
  }

  @Test("trailing bytes are allowed after a complete file, but not after a fragment")
  func trailingBytes() {
    for count in 1...40 {
      #expect(Self.refusal(movie("vide") + mediaData + [UInt8](repeating: 0, count: count)) == nil)
    }
    #expect(Self.refusal(movie("vide") + mediaData + [0xAB, 0xCD]) == nil)
    let fragmented = movie("vide", extra: box("mvex")) + box("moof") + mediaData
    #expect(Self.refusal(fragmented + [0xAB, 0xCD])?.offset == Int64(fragmented.count))
  }

  @Test(
    "what is no box behind the last box of a complete file is allowed, and a box that is cut is not",
    arguments: [
      [0, 1, 2, 3, 4, 5, 6, 7] + [UInt8](repeating: 9, count: 92),
      [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 300),
      Array("SEFH trailer of a phone".utf8), [0, 0, 0, 3, 0x41, 0x42, 0x43, 0x44, 0, 0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 1, 0, 0, 0, 0, 0], [0x7F] + [UInt8](repeating: 0xFF, count: 30),
    ])
  func trailers(trailer: [UInt8]) {
    let clip = fileType("isom") + mediaData + movie("vide", "soun")
    #expect(Self.refusal(clip + trailer) == nil)
    let fragmented = movie("vide", extra: box("mvex")) + box("moof") + mediaData
    #expect(Self.refusal(fragmented + trailer)?.offset == Int64(fragmented.count))
    #expect(Self.refusal(fileType("isom") + mediaData + trailer) != nil)
    for type in ["mdat", "moof", "free", "uuid", "meta"] {
      let cut = Array(box(type, [UInt8](repeating: 1, count: 40)).dropLast())
      #expect(Self.refusal(clip + cut)?.offset == Int64(clip.count), "\(type)")
    }
  }

  @Test("a file with random changes is examined with few reads")
  func randomChanges() {
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

  @Test("errors of the reader are rethrown")
  func readErrors() {
    struct Unreadable: Error {}
    #expect(throws: Unreadable.self) {
      try ContainerWalker.examine(size: 100) { _, _ throws(Unreadable) in throw Unreadable() }
    }
  }
}
