import AV
import MediaFixtures
import Testing

@Suite("Muxer", .tags(.media))
struct MuxerTests {
  @Test("writes the index in front, the same bytes each time, and no name or date")
  func reproducible() throws {
    let clip = MarkedClip(.green, seconds: 0.5, tone: .init(440))
    let (first, second) = (
      try TemporaryFile.bytes(of: clip.write()), try TemporaryFile.bytes(of: clip.write())
    )
    #expect(first == second)
    let (index, data) = (Self.place(of: "moov", in: first), Self.place(of: "mdat", in: first))
    #expect(try #require(index) < #require(data))
    #expect(Self.place(of: "Lavf", in: first) == nil)
  }

  private static func place(of name: String, in bytes: [UInt8]) -> Int? {
    let name = Array(name.utf8)
    return bytes.indices.dropLast(name.count).first { bytes[$0..<$0 + name.count].elementsEqual(name) }
  }

  @Test("says what failed when it cannot write")
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
