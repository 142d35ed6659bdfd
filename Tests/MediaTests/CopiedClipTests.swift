import AV
import BoxTesting
import ISOBaseMedia
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Copied clips", .tags(.media))
struct CopiedClipTests {
  /// The first finding of the strict check of a file; nil if it passes.
  static func finding(_ bytes: [UInt8]) -> String? {
    MovieCheck.finding(size: Int64(bytes.count)) { offset, count in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
  }

  static let clips: [(String, @Sendable (inout MarkedClip) -> Void)] = [
    ("as phones write it", { _ in }),
    ("with B frames", { $0.isReordered = true }),
    ("with parameter sets in front of each sync sample", { $0.x264 = "repeat-headers=1" }),
    ("with delimiters and filler", { $0.x264 = "aud=1:nal-hrd=cbr:vbv-maxrate=2000:vbv-bufsize=2000:bitrate=2000" }),
    ("with several slices in a frame", { $0.x264 = "slices=4" }),
    ("with open GOPs after the first one", { $0.x264 = "open-gop=1:bframes=2:b-adapt=0:keyint=30:scenecut=0" }),
    ("rotated, from a QuickTime file", { ($0.rotation, $0.format) = (.quarter, .mov) }),
    ("with audio that starts late", { ($0.tone, $0.isReordered) = (.init(440, delay: 0.3), true) }),
  ]

  @Test("a copied clip passes the strict check", arguments: clips.indices)
  func strict(index: Int) throws {
    let (name, change) = Self.clips[index]
    var clip = MarkedClip(.red)
    change(&clip)
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    #expect(run.codes == [], "\(name)")
    #expect(run.plan?.clips.first?.mode == .remux, "\(name): \(run.choices(.clip))")
    for role in [Role.composed, .clipFront, .clipBack] {
      #expect(try Self.finding(run.bytes(role)) == nil, "\(name), \(role.rawValue)")
    }
    var frames = 0
    try run.video(.clipFront).forEachFrame { _, _ in frames += 1 }
    #expect(frames == 150, "\(name)")
  }

  @Test("boxes in front of the tracks hide none of them from the readers of an output")
  func boxesBeforeTracks() throws {
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue).write())
    let bytes = try run.bytes(.clipFront)
    let padded = try #require(insertingBeforeTracks((0..<5000).flatMap { _ in box("free") }, of: bytes))
    #expect(Self.finding(padded) == nil)
    func header(_ bytes: [UInt8]) -> MovieHeader? {
      MovieHeader.read(size: Int64(bytes.count)) { offset, count in Array(bytes.dropFirst(Int(offset)).prefix(count)) }
    }
    let expected = try #require(header(bytes))
    #expect(header(padded) == expected)
  }

  @Test("copied audio ends with the picture", arguments: [5, 4.99, 4.6])
  func ends(seconds: Double) throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.times = clip.times.filter { $0 < seconds - 0.01 }
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    #expect(run.plan?.clips.first?.audio?.mode == .copy && run.plan?.clips.first?.mode == .remux)
    for role in [Role.clipFront, .composed] {
      let bytes = try run.bytes(role)
      let movie = try #require(bytes.firstRange(of: Array("moov".utf8)))
      let tracks = MovieMetadata(movie: Array(bytes[movie.upperBound...])).tracks
      let ends = try ["vide", "soun"].map { handler in
        try #require(tracks.first { $0.handler?.description == handler }?.editEnd)
      }
      #expect(ends[1] <= ends[0] + 0.001 && ends[1] > ends[0] - 0.03, "\(role.rawValue): \(ends)")
    }
  }

  @Test("a clip whose tags or matrix players read differently is encoded")
  func ambiguous() throws {
    var tagged = MarkedClip(.red)
    tagged.x264 = "colormatrix=GBR"
    var turned = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    let header = try #require(turned.firstRange(of: Array("tkhd".utf8))).upperBound
    // The matrix follows forty bytes (ISO/IEC 14496-12, 8.3.2); this one turns by 45 degrees.
    let half: [Int32] = [46_341, 46_341, 0, -46_341, 46_341]
    turned.replaceSubrange(header + 40..<header + 60, with: half.flatMap { bigEndian($0) })
    for file in [try tagged.write(), try TemporaryFile.make(turned)] {
      let run = try MomentRun(front: file, back: MarkedClip(.blue).write())
      #expect(run.codes == [] && run.plan?.clips.first?.mode == .encode, "\(run.choices(.clip))")
      let video = try #require(try run.video(.clipFront).stream(.video))
      #expect(video.color.matrix == "bt709")
    }
  }

  @Test("the strict check examines every sample and finds errors that FFmpeg tolerates", arguments: Breakage.allCases)
  func broken(breakage: Breakage) throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.isReordered = true
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    var bytes = try run.bytes(.clipFront)
    #expect(Self.finding(bytes) == nil)
    try breakage.apply(to: &bytes)
    let finding = try #require(Self.finding(bytes), "\(breakage)")
    #expect(finding.contains(breakage.finding), "\(breakage): \(finding)")
  }

  /// A violation of one rule of the format.
  enum Breakage: CaseIterable {
    case startCodes, parameterSets, lengthSize
    case zeroDuration, lateEdit, shortEdit, secondEdit
    case trailingBytes, noSync, allSync

    var finding: String {
      switch self {
      case .startCodes: "lengths of units"
      case .parameterSets: "'avcC'"
      case .lengthSize: "lengths of 2 bytes"
      case .zeroDuration: "do not increase"
      case .lateEdit: "start with its first sample"
      case .shortEdit: "end with its last sample"
      case .secondEdit: "more than one edit"
      case .trailingBytes: "byte"
      case .noSync: "not a sync sample"
      case .allSync: "decoding cannot start"
      }
    }

    func apply(to bytes: inout [UInt8]) throws {
      func content(_ type: String) throws -> Int {
        try #require(bytes.firstRange(of: Array(type.utf8)), "\(type)").upperBound
      }
      func write(_ number: UInt32, at offset: Int) {
        bytes.replaceSubrange(offset..<offset + 4, with: bigEndian(number))
      }
      func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
      switch self {
      case .startCodes: write(1, at: try content("mdat"))
      case .parameterSets: bytes[try content("avcC") + 1] ^= 0xFF
      case .lengthSize: bytes[try content("avcC") + 4] = 0xFD
      case .zeroDuration: write(0, at: try content("stts") + 12)
      case .lateEdit: write(number(try content("elst") + 12) + 9000, at: try content("elst") + 12)
      case .shortEdit: write(number(try content("elst") + 8) / 2, at: try content("elst") + 8)
      case .secondEdit:
        let list = try content("elst")
        bytes = try #require(
          inserting(Array(bytes[list + 8..<list + 20]), into: ["moov", "trak", "edts", "elst"], of: bytes))
        write(2, at: try content("elst") + 4)
      case .trailingBytes: bytes += [0, 0, 0, 12] + Array("free".utf8) + [1, 2, 3, 4]
      case .noSync: write(2, at: try content("stss") + 8)
      // The renamed box is ignored: without `stss` all samples are sync samples.
      case .allSync: bytes.replaceSubrange(try content("stss") - 4..<(try content("stss")), with: Array("free".utf8))
      }
    }
  }
}
