import AV
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Refusals", .tags(.media))
struct RefusalTests {
  static func sound() throws -> OpenFile { try MarkedClip(.blue, tone: .init(1000)).write() }

  /// Takes a broken front clip and a sound back clip through everything.
  static func refuse(_ front: OpenFile, definition: Definition? = nil) throws -> MomentRun {
    try MomentRun(front: front, back: sound(), definition: definition)
  }

  static func expect(
    _ code: ReasonCode, _ run: MomentRun, input: InputName? = .front, location: SourceLocation = #_sourceLocation
  ) {
    #expect(run.codes == [code], sourceLocation: location)
    #expect(run.report.verdict.reasons.first?.input == input, sourceLocation: location)
    #expect(run.report.verdict.verdict == .rejected, sourceLocation: location)
    #expect(run.report.outputs.isEmpty, sourceLocation: location)
  }

  @Test("an empty file")
  func empty() throws { Self.expect(.emptyFile, try Self.refuse(TemporaryFile.make())) }

  @Test(
    "what is no film by its first bytes",
    arguments: [
      "Dear diary, this is no film.\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile '/etc/passwd'\n", "x",
    ])
  func otherContainer(content: String) throws {
    Self.expect(.unsupportedContainer, try Self.refuse(TemporaryFile.make(Array(content.utf8))))
  }

  @Test("a clip that is cut off", arguments: [0.1, 0.5, 0.99])
  func truncated(share: Double) throws {
    let file = try MarkedClip(.red, tone: .init(440)).write()
    let size = Double(try file.descriptor.size())
    let cut = try TemporaryFile.truncating(file, to: Int(size * share))
    Self.expect(.truncatedContainer, try Self.refuse(cut))
  }

  @Test("sound alone")
  func soundOnly() throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.hasVideo = false
    Self.expect(.noVideoStream, try Self.refuse(clip.write()))
  }

  @Test("a codec that is not allowed")
  func codec() throws {
    var definition = try MomentRun.definition()
    definition.limits.videoCodecs = ["h264"]
    Self.expect(.unsupportedCodec, try Self.refuse(MarkedClip(.red, codec: .hevc).write(), definition: definition))
  }

  @Test("a container that is not allowed")
  func container() throws {
    var definition = try MomentRun.definition()
    definition.limits.containers = [.mov]
    let run = try Self.refuse(MarkedClip(.red).write(), definition: definition)
    #expect(run.codes == [.unsupportedContainer, .unsupportedContainer])
  }

  @Test("too many bytes, pixels or pictures a second")
  func tooLarge() throws {
    let front = try MarkedClip(.red, width: 540, height: 960).write()
    var definition = try MomentRun.definition()
    definition.limits.pixels = 500 * 900
    Self.expect(.tooLarge, try Self.refuse(front, definition: definition))
    definition = try MomentRun.definition()
    definition.limits.bytes = try Self.sound().descriptor.size()
    let padded = try TemporaryFile.make(Array(repeating: 0, count: Int(definition.limits.bytes) + 1))
    Self.expect(.tooLarge, try Self.refuse(padded, definition: definition))
    definition = try MomentRun.definition()
    definition.limits.framesPerSecond = 50
    Self.expect(
      .tooLarge, try Self.refuse(MarkedClip(.red, framesPerSecond: 60).write(), definition: definition))
  }

  @Test("clips that are too short or too long", arguments: [4.0, 6.0, 30])
  func duration(seconds: Double) throws {
    let run = try Self.refuse(MarkedClip(.red, seconds: seconds).write())
    Self.expect(.durationOutOfRange, run)
    #expect(run.report.verdict.inputs[.front]?.frames == nil, "it is refused before it is decoded")
  }

  @Test("clips of different lengths")
  func difference() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, seconds: 4.6).write(), back: MarkedClip(.blue, seconds: 5.4).write())
    Self.expect(.durationsDiffer, run, input: nil)
  }

  @Test("the same file twice")
  func sameFile() throws {
    let file = try Self.sound()
    Self.expect(.sameFileTwice, try MomentRun(front: file, back: file), input: nil)
    let copy = try TemporaryFile.make(TemporaryFile.bytes(of: file))
    Self.expect(.sameFileTwice, try MomentRun(front: file, back: copy), input: nil)
  }

  @Test("a damaged picture in the middle", arguments: [0.3, 0.6, 0.9])
  func corrupt(place: Double) throws {
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    let start = Int(Double(bytes.count) * place)
    for index in start..<start + 60 { bytes[index] ^= 0x5A }
    let run = try Self.refuse(TemporaryFile.make(bytes))
    Self.expect(.corruptVideo, run)
  }

  @Test("a run that is cancelled says nothing about the media")
  func cancelled() throws {
    let flag = CancellationFlag()
    flag.cancel()
    let file = try Self.sound()
    #expect(throws: MediaError.self) {
      _ = try Prober(limits: MomentRun.definition().limits, cancellation: flag).probe(file, as: .clip)
    }
  }
}
