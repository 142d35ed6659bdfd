import AV
import MediaFixtures
import Platform
import Testing

@Suite("Muxer", .tags(.media))
struct MuxerTests {
  @Test("writes the index in front, the same bytes each time, and no name of the encoder")
  func reproducible() throws {
    let clip = MarkedClip(.green, seconds: 0.5, tone: .init(440))
    let (first, second) = (
      try TemporaryFile.bytes(of: clip.write()), try TemporaryFile.bytes(of: clip.write())
    )
    #expect(first == second)
    let (index, data) = (Self.offset(of: "moov", in: first), Self.offset(of: "mdat", in: first))
    #expect(try #require(index) < #require(data))
    #expect(Self.offset(of: "Lavf", in: first) == nil)
  }

  private static func offset(of name: String, in bytes: [UInt8]) -> Int? {
    let name = Array(name.utf8)
    return bytes.indices.dropLast(name.count).first { bytes[$0..<$0 + name.count].elementsEqual(name) }
  }

  @Test("reports the errno of a failed write")
  func readOnly() throws {
    let file = try ReadOnlyFile.make()
    let error = #expect(throws: AVError.self) {
      let muxer = try Muxer(writing: file)
      let encoder = try AudioEncoder(sampleRate: 48_000, channels: 2, bitRate: 64_000)
      _ = try muxer.addStream(of: encoder)
      try muxer.start()
      try muxer.finish()
    }
    #expect(error?.systemCode == 9)
  }
}

/// A file that cannot be written.
private enum ReadOnlyFile {
  static func make() throws -> OpenFile { OpenFile(try Descriptor(reading: "/dev/null")) }
}
