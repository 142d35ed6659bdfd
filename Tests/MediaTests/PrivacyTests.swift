import AV
import BoxTesting
import Kernels
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Privacy", .tags(.media))
struct PrivacyTests {
  /// A clip with location and device metadata.
  static func withMetadata(_ clip: MarkedClip) throws -> [UInt8] {
    let location = box("udta", box("\u{A9}xyz", [0, 18, 0x15, 0xC7] + Array("+52.5200+013.4050/".utf8)))
    let bytes = try TemporaryFile.bytes(of: clip.write())
    let located = try #require(inserting(location.latin(), into: ["moov"], of: bytes))
    let device = box("udta", box("manu", Array("Acme".utf8)), box("modl", Array("Telephone 7".utf8)))
    return try #require(inserting(device, into: ["moov", "trak"], of: located))
  }

  @Test("identifying metadata is reported by key only, and no output holds it")
  func leftBehind() throws {
    let front = try TemporaryFile.make(Self.withMetadata(MarkedClip(.red, tone: .init(440))))
    let run = try MomentRun(front: front, back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    let found = try #require(run.report.verdict.inputs[.front]?.facts.identifying)
    #expect(Set(found.map(\.kind)) == [.place, .device])
    #expect(Set(found.map(\.key)) == ["©xyz", "manu", "modl"])
    #expect(run.choices(.privacy).count == 1)
    for role in try #require(run.plan).outputs {
      let bytes = try run.bytes(role)
      for secret in ["+52.52", "Acme", "Telephone", "xyz"] {
        #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(secret) in \(role.rawValue)")
      }
    }
  }

  @Test("XMP after the media is found")
  func outermost() throws {
    let name: [UInt8] = [
      0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
    ]
    let xmp = Array(#"<x:xmpmeta><rdf:Description exif:GPSLatitude="52,31.2N"/></x:xmpmeta>"#.utf8)
    let bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write()) + box("uuid", name, xmp)
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    let found = try #require(run.report.verdict.inputs[.front]?.facts.identifying)
    #expect(found.map(\.kind) == [.place] && found.map(\.key) == ["XMP"])
  }

  @Test("SEI messages between copied frames are left out, and the frames are complete")
  func messages() throws {
    let clip = MarkedClip(.red)
    let file = try clip.write()
    // x264 writes its version into an SEI message.
    let signature = Array("x264 - core".utf8)
    #expect(try TemporaryFile.bytes(of: file).firstRange(of: signature) != nil)
    let run = try MomentRun(front: file, back: MarkedClip(.blue).write())
    #expect(run.plan?.clips.first { $0.role == .clipFront }?.mode == .remux)
    #expect(try run.bytes(.clipFront).firstRange(of: signature) == nil)
    var frames = 0
    try run.video(.clipFront).forEachFrame { frame, _ in
      #expect(CounterBlocks.read(frame) == frames)
      frames += 1
    }
    #expect(frames == 150)
  }

  @Test("an output with metadata fails the privacy check", arguments: [Role.composed, .poster, .preview])
  func privacyCheck(role: Role) throws {
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue).write())
    var bytes = try run.bytes(role)
    func check(_ bytes: [UInt8]) throws {
      try PrivacyCheck(role: role, file: try TemporaryFile.make(bytes)).check()
    }
    #expect(throws: Never.self) { try check(bytes) }
    switch role {
    case .composed: bytes = try #require(inserting(box("udta", box("loci", [1, 2, 3])), into: ["moov"], of: bytes))
    case .poster: bytes.insert(contentsOf: [0xFF, 0xE1, 0, 8] + Array("Exif\0\0".utf8), at: 2)
    default: bytes += Array("EXIF".utf8) + [2, 0, 0, 0, 1, 2]
    }
    #expect(throws: RunFailure.self) { try check(bytes) }
  }
}

extension [UInt8] {
  /// Replaces the UTF-8 encoding of ©, at the start of user data types, by its one byte in Latin-1.
  fileprivate func latin() -> [UInt8] {
    var bytes = self
    while let range = bytes.firstRange(of: [0xC2, 0xA9]) {
      bytes.remove(at: range.lowerBound)
      // The enclosing boxes are one byte shorter.
      bytes[3] -= 1
      bytes[11] -= 1
    }
    return bytes
  }
}
