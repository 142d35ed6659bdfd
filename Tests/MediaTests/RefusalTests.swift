import AV
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Refusals", .tags(.media))
struct RefusalTests {
  static func validClip() throws -> OpenFile { try MarkedClip(.blue, tone: .init(1000)).write() }

  /// Runs an invalid front clip with a valid back clip.
  static func refuse(_ front: OpenFile, definition: Definition? = nil) throws -> MomentRun {
    try MomentRun(front: front, back: validClip(), definition: definition)
  }

  static func expect(
    _ code: ReasonCode, _ run: MomentRun, input: InputName? = .front, location: SourceLocation = #_sourceLocation
  ) {
    #expect(run.codes == [code], sourceLocation: location)
    #expect(run.report.verdict.reasons.first?.input == input, sourceLocation: location)
    #expect(run.report.verdict.verdict == .rejected, sourceLocation: location)
    #expect(run.report.outputs.isEmpty, sourceLocation: location)
  }

  @Test("an empty file is refused")
  func empty() throws { Self.expect(.emptyFile, try Self.refuse(TemporaryFile.make())) }

  @Test(
    "a file that does not begin as a video is refused",
    arguments: [
      "This is not a video.\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile '/etc/passwd'\n", "x",
    ])
  func otherContainer(content: String) throws {
    Self.expect(.unsupportedContainer, try Self.refuse(TemporaryFile.make(Array(content.utf8))))
  }

  @Test("a truncated clip is refused", arguments: [0.1, 0.5, 0.99])
  func truncated(fraction: Double) throws {
    let file = try MarkedClip(.red, tone: .init(440)).write()
    let size = Double(try file.descriptor.size())
    let cut = try TemporaryFile.truncating(file, to: Int(size * fraction))
    Self.expect(.truncatedContainer, try Self.refuse(cut))
  }

  @Test("a file with audio only is refused")
  func audioOnly() throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.hasVideo = false
    Self.expect(.noVideoStream, try Self.refuse(clip.write()))
  }

  @Test("a codec that the definition does not allow is refused")
  func codec() throws {
    var definition = try MomentRun.definition()
    definition.limits.videoCodecs = ["h264"]
    Self.expect(.unsupportedCodec, try Self.refuse(MarkedClip(.red, codec: .hevc).write(), definition: definition))
  }

  @Test("a container that the definition does not allow is refused")
  func container() throws {
    var definition = try MomentRun.definition()
    definition.limits.containers = [.mov]
    let run = try Self.refuse(MarkedClip(.red).write(), definition: definition)
    #expect(run.codes == [.unsupportedContainer, .unsupportedContainer])
  }

  @Test("a clip with too many bytes, pixels or frames per second is refused")
  func tooLarge() throws {
    let front = try MarkedClip(.red, width: 540, height: 960).write()
    var definition = try MomentRun.definition()
    definition.limits.pixels = 500 * 900
    Self.expect(.tooLarge, try Self.refuse(front, definition: definition))
    definition = try MomentRun.definition()
    definition.limits.bytes = try Self.validClip().descriptor.size()
    let padded = try TemporaryFile.make(Array(repeating: 0, count: Int(definition.limits.bytes) + 1))
    Self.expect(.tooLarge, try Self.refuse(padded, definition: definition))
    definition = try MomentRun.definition()
    definition.limits.framesPerSecond = 50
    let fast = try Self.refuse(MarkedClip(.red, framesPerSecond: 60).write(), definition: definition)
    Self.expect(.tooLarge, fast)
    #expect(
      fast.report.verdict.reasons.first?.detail
        == "It has 60 frames per second; at most 50 are accepted. Film with fewer frames per second.")
  }

  @Test("a clip with more streams than allowed is refused")
  func streams() throws {
    var definition = try MomentRun.definition()
    let file = try MarkedClip(.red, tone: .init(440)).write()
    definition.limits.streams = 2
    #expect(try Self.refuse(file, definition: definition).codes == [])
    definition.limits.streams = 1
    #expect(try Self.refuse(file, definition: definition).codes == [.unsupportedContainer, .unsupportedContainer])
  }

  @Test("clips that are too short or too long are refused", arguments: [4.0, 6.0, 30])
  func duration(seconds: Double) throws {
    let run = try Self.refuse(MarkedClip(.red, seconds: seconds).write())
    Self.expect(.durationOutOfRange, run)
    #expect(run.report.verdict.inputs[.front]?.frames == nil, "the clip was decoded before it was refused")
  }

  @Test("clips of different durations are refused")
  func difference() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, seconds: 4.6).write(), back: MarkedClip(.blue, seconds: 5.4).write())
    Self.expect(.durationsDiffer, run, input: nil)
  }

  @Test("the same file for both inputs is refused")
  func sameFile() throws {
    let file = try Self.validClip()
    Self.expect(.sameFileTwice, try MomentRun(front: file, back: file), input: nil)
    let copy = try TemporaryFile.make(TemporaryFile.bytes(of: file))
    Self.expect(.sameFileTwice, try MomentRun(front: file, back: copy), input: nil)
  }

  @Test("a clip with a damaged frame is refused", arguments: [0.3, 0.6, 0.9])
  func corrupt(position: Double) throws {
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    let start = Int(Double(bytes.count) * position)
    for index in start..<start + 60 { bytes[index] ^= 0x5A }
    let run = try Self.refuse(TemporaryFile.make(bytes))
    Self.expect(.corruptVideo, run)
  }

  @Test("a cancelled probe throws an error instead of refusing the media")
  func cancelled() throws {
    let flag = CancellationFlag()
    flag.cancel()
    let file = try Self.validClip()
    #expect(throws: MediaError.self) {
      _ = try Prober(limits: MomentRun.definition().limits, cancellation: flag).probe(file, as: .clip)
    }
  }
}

@Suite("Damaged clips", .tags(.media))
struct DamageTests {
  @Test("a damaged file gives a verdict and no crash", arguments: 0..<8)
  func anyDamage(seed: Int) throws {
    var definition = try MomentRun.definition(width: 64, height: 64)
    definition.limits.seconds = SecondsRange(shortest: 0.1, longest: 2)
    definition.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 0.1, longest: 2)
    definition.outputs[.composed]?.composed?.inset.margin = 2
    let codec: MarkedClip.Codec = seed % 2 == 0 ? .h264 : .hevc
    let back = try MarkedClip(.blue, width: 64, height: 64, seconds: 0.4, tone: .init(1000)).write()
    let bytes = try TemporaryFile.bytes(
      of: MarkedClip(.red, width: 64, height: 64, seconds: 0.4, codec: codec, tone: .init(440)).write())
    // A fixed generator (Knuth, MMIX), so that failures are reproducible.
    var state = UInt64(seed) + 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<25 {
      var damaged = bytes
      for _ in 0...next(6) { damaged[next(damaged.count)] = UInt8(next(256)) }
      let run = try MomentRun(
        front: TemporaryFile.make(damaged), back: back, definition: definition, roles: [.composed, .clipFront])
      #expect(run.isAccepted == run.codes.isEmpty)
    }
  }
}
