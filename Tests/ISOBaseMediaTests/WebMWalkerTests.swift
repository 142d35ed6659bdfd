import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("Elements of a WebM")
struct WebMWalkerTests {
  static func examine(_ file: [UInt8]) -> Result<WebMStructure, ContainerRefusal> {
    WebMWalker.examine(size: Int64(file.count)) { offset, count throws(Never) in
      Array(file.dropFirst(Int(offset)).prefix(count))
    }
  }

  private static func refusal(_ file: [UInt8]) -> ContainerRefusal? {
    if case .failure(let refusal) = examine(file) { return refusal }
    return nil
  }

  /// Clusters as a recorder writes them that does not go back.
  static let live =
    cluster(simpleBlock(), simpleBlock(track: 2), isOpen: true)
    + cluster(at: 1000, simpleBlock(), isOpen: true)

  static let valid: [(String, [UInt8])] = [
    ("a seekable one", webM(videoEntry(), soundEntry())),
    ("one from a browser", webM(videoEntry(codec: "V_VP8"), soundEntry(), clusters: live, isOpen: true)),
    ("open clusters in a segment with a size", webM(videoEntry(), clusters: live)),
    ("an index behind open clusters", webM(videoEntry(), clusters: live + element(0x1C53_BB6B, element(0xBB)))),
    (
      "block groups, and elements that are skipped",
      webM(
        videoEntry(),
        clusters: element(0xEC, zeros(20)) + element(0x1C53_BB6B) + element(0x1234_5678, [1])
          + cluster(
            element(0xA7, [1]), element(0xA0, element(0xA1, blockHeader(), [7, 8]), element(0x9B, [33])),
            element(0xAB, [1])))
    ),
    ("filler behind it", webM(videoEntry()) + element(0xEC, zeros(9))),
    (
      "sizes of eight bytes",
      documentHeader() + elementID(0x1853_8067) + unknownSize + elementID(0x1654_AE6B) + [1, 0, 0, 0, 0, 0, 0]
        + [UInt8(videoEntry().count)] + videoEntry() + cluster(simpleBlock())
    ),
  ]

  @Test("is accepted as recorders write it", arguments: valid.indices)
  func accepted(index: Int) throws {
    let (name, file) = Self.valid[index]
    let structure = try #require(try? Self.examine(file).get(), "\(name): \(Self.examine(file))")
    let track = try #require(structure.tracks.first, "\(name)")
    #expect(track.number == 1 && track.size == Size(width: 640, height: 480) && !track.isEncoded, "\(name)")
    #expect(["vp8", "vp9"].contains(track.codec), "\(name)")
  }

  private static let segment = element(0x1549_A966) + element(0x1654_AE6B, videoEntry())

  static let damaged: [(String, [UInt8], String)] = [
    (
      "two lists of tracks", webM(videoEntry(), clusters: element(0x1654_AE6B, soundEntry()) + cluster(simpleBlock())),
      "a second element 'Tracks'"
    ),
    (
      "two headers of its segment", webM(videoEntry(), clusters: element(0x1549_A966) + cluster(simpleBlock())),
      "a second element 'Info'"
    ),
    (
      "no size of its tracks", documentHeader() + openElement(0x1853_8067, openElement(0x1654_AE6B, videoEntry())),
      "is unknown"
    ),
    (
      "no size of a block group",
      webM(videoEntry(), clusters: cluster(openElement(0xA0, element(0xA1, blockHeader(), [1])))), "is unknown"
    ),
    ("no size of a block", webM(videoEntry(), clusters: cluster(openElement(0xA3, blockHeader()))), "is unknown"),
    (
      "a block that is longer than its cluster",
      webM(
        videoEntry(),
        clusters: element(0x1F43_B675, element(0xE7, [0]), [0xA3, 0xA0] + blockHeader()) + element(0xEC, zeros(40))),
      "exceeds its parent"
    ),
    (
      "a cluster that is longer than its segment",
      documentHeader() + element(0x1853_8067, segment + elementID(0x1F43_B675) + elementSize(500))
        + element(0xEC, zeros(600)),
      "exceeds its parent"
    ),
    ("an id of five bytes", webM(videoEntry(), clusters: cluster([0x08, 1, 2, 3, 4, 5])), "no element"),
    ("an id of ones", webM(videoEntry(), clusters: cluster([0xFF, 0x80, 0x80])), "no element"),
    ("a size of nine bytes", webM(videoEntry(), clusters: cluster([0xA3, 0x00] + zeros(20))), "no element"),
    ("zeros", webM(videoEntry(), clusters: cluster(simpleBlock()) + zeros(40)), "no element"),
    (
      "frames in front of the tracks", documentHeader() + openElement(0x1853_8067, cluster(simpleBlock()) + segment),
      "in front of its tracks"
    ),
    (
      "tracks in a cluster", webM(videoEntry(), clusters: cluster(simpleBlock(), element(0x1654_AE6B, videoEntry()))),
      "stands in a cluster"
    ),
    ("a second recording", webM(videoEntry(), isOpen: true) + webM(videoEntry()), "another recording follows"),
    (
      "a second recording behind an open cluster", webM(videoEntry(), clusters: live, isOpen: true) + documentHeader(),
      "another recording follows"
    ),
    ("bytes behind it", webM(videoEntry()) + element(0xBF, zeros(4)), "bytes follow"),
    ("a block of no track", webM(videoEntry(), clusters: cluster(element(0xA3, [0x00, 1, 2, 3]))), "names no track"),
    ("an empty block", webM(videoEntry(), clusters: cluster(element(0xA3))), "names no track"),
    ("a block without a time", webM(videoEntry(), clusters: cluster(element(0xA3, [0x81, 0]))), "has no time"),
    ("a block in front of the time", webM(videoEntry(), clusters: element(0x1F43_B675, simpleBlock())), "has no time"),
    (
      "a time of nine bytes", webM(videoEntry(), clusters: element(0x1F43_B675, element(0xE7, zeros(9)))),
      "more than eight bytes"
    ),
    (
      "a time of all bits",
      webM(videoEntry(), clusters: element(0x1F43_B675, element(0xE7, [UInt8](repeating: 0xFF, count: 8)))),
      "out of range"
    ),
    ("a scale of 0", webM(videoEntry(), info: element(0x2A_D7B1, [0])), "'Info' is inconsistent"),
    ("tracks that are cut", webM([0xAE, 0x90, 0xD7]), "'Tracks' is inconsistent"),
    ("two tracks of a number", webM(videoEntry(), soundEntry(number: 1)), "'Tracks' is inconsistent"),
    ("a video of no size", webM(videoEntry(width: 0)), "'Tracks' is inconsistent"),
    ("a video of two to the power of 40", webM(videoEntry(width: 1 << 40)), "'Tracks' is inconsistent"),
    (
      "tags of half an element", webM(videoEntry(), clusters: element(0x1254_C367, [0x73]) + cluster(simpleBlock())),
      "'Tags' is inconsistent"
    ),
    (
      "a header of half an element", elementID(0x1A45_DFA3) + [0x81, 0x42] + webM(videoEntry()),
      "'EBML' is inconsistent"
    ),
    ("a long header", element(0x1A45_DFA3, element(0xEC, zeros(300))), "at most 256"),
    (
      "a large index", webM(videoEntry(), clusters: element(0x1C53_BB6B, zeros(1 << 19)) + cluster(simpleBlock())),
      "at most 262144"
    ),
    ("no segment", documentHeader() + cluster(simpleBlock()), "in front of its segment"),
  ]

  @Test("is refused where its elements contradict each other", arguments: damaged.indices)
  func inconsistent(index: Int) throws {
    let (name, file, finding) = Self.damaged[index]
    guard case .damaged(let found, let offset)? = Self.refusal(file) else {
      Issue.record("\(name): \(Self.examine(file))")
      return
    }
    #expect(found.contains(finding), "\(name): \(found)")
    #expect(0...Int64(file.count) ~= offset)
    #expect(Reason(.damaged(finding: found, offset: offset), input: .clip).code == .truncatedContainer)
  }

  @Test("is refused if it ends too early, wherever that is, unless it ends behind an element of an open one")
  func cut() throws {
    let closed = webM(videoEntry(), soundEntry(), clusters: cluster(simpleBlock(), simpleBlock(at: 33)))
    for count in 5..<closed.count {
      guard case .truncated? = Self.refusal(Array(closed.prefix(count))) else {
        Issue.record("\(count) of \(closed.count) bytes: \(Self.examine(Array(closed.prefix(count))))")
        continue
      }
    }
    let open = webM(videoEntry(), clusters: cluster(simpleBlock(), simpleBlock(at: 33), isOpen: true), isOpen: true)
    let ends = (5..<open.count).filter { Self.refusal(Array(open.prefix($0))) == nil }
    #expect(ends == [open.count - simpleBlock().count])
    #expect(Self.refusal(documentHeader() + openElement(0x1853_8067, cluster()))?.offset != nil)
    guard case .truncated(let finding, _)? = Self.refusal(webM(videoEntry(), clusters: cluster())) else {
      Issue.record("a clip without frames is accepted")
      return
    }
    #expect(finding.contains("no block"))
  }

  @Test("another file of EBML is refused as Matroska")
  func otherTypes() {
    let matroska = documentHeader("matroska") + webM(videoEntry()).dropFirst(documentHeader().count)
    let attached = webM(videoEntry(), clusters: element(0x1941_A469, element(0x61A7, [1])) + cluster(simpleBlock()))
    for file in [matroska, attached, documentHeader("webm2") + zeros(20)] {
      guard case .unsupported(let found)? = Self.refusal(file) else {
        Issue.record("\(Self.examine(file))")
        continue
      }
      #expect(found.name == "a Matroska file" && found.kind == .video)
    }
  }

  @Test("a file with sound only has no video")
  func soundOnly() {
    #expect(Self.refusal(webM(soundEntry())) == .noVideoTrack(handlers: ["soun"]))
    #expect(Self.refusal(webM()) == .noVideoTrack(handlers: []))
  }

  @Test("the number of elements is limited")
  func manyElements() throws {
    let blocks = [UInt8]((0..<262_145).flatMap { _ in [0xEC, 0x80] as [UInt8] })
    let refused = Self.refusal(webM(videoEntry(), clusters: cluster(blocks)))
    guard case .damaged(let finding, _)? = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(finding == "it has more than 262144 elements")
    #expect(Self.refusal(webM(videoEntry(), clusters: cluster(simpleBlock(), Array(blocks.prefix(500_000))))) == nil)
  }

  @Test("names of tags and the time of recording are read")
  func metadata() throws {
    func tag(_ name: String, _ more: [UInt8] = []) -> [UInt8] {
      element(0x67C8, element(0x45A3, Array(name.utf8)), element(0x4487, [0x61]), more)
    }
    let names = ["RECORDING_LOCATION", "ARTIST", "COMMENT", "ENCODER", "DURATION", "_STATISTICS_TAGS", "ARTIST"]
    let tags = element(0x7373, names.flatMap { tag($0) } + tag("ORIGINAL", tag("CAMERA_MODEL")))
    // 2024-02-29T12:00:00Z.
    let date = bigEndian(Int64(1_709_208_000 - 978_307_200) * 1_000_000_000)
    let file = webM(
      videoEntry(), info: element(0x4461, date) + element(0x7BA9, Array("Ada".utf8)),
      clusters: element(0x1254_C367, tags) + cluster(simpleBlock()))
    let structure = try Self.examine(file).get()
    #expect(structure.recorded == 1_709_208_000)
    #expect(
      structure.identifying.map(\.key) == [
        "Title", "RECORDING_LOCATION", "ARTIST", "COMMENT", "ORIGINAL", "CAMERA_MODEL",
      ])
    #expect(structure.identifying.map(\.kind) == [.other, .place, .person, .other, .other, .device])
    let many = element(0x7373, (0..<300).flatMap { tag("NAME\($0)") })
    let filled = try Self.examine(webM(videoEntry(), clusters: element(0x1254_C367, many) + cluster(simpleBlock())))
      .get()
    #expect(filled.identifying.count == 64)
  }
}
