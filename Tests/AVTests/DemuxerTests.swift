import AV
import MediaFixtures
import Platform
import Testing

@Suite("Demuxer", .tags(.media))
struct DemuxerTests {
  static let limits = DemuxerLimits(streams: 4, codecs: ["h264", "aac"])

  static func open(_ file: OpenFile, limits: DemuxerLimits = limits) throws -> Demuxer {
    try Demuxer(reading: file, limits: limits, interrupt: Interrupt())
  }

  @Test("reads the properties of streams from the headers")
  func headers() throws {
    let clip = MarkedClip(.red, seconds: 1, tone: .init(440, sampleRate: 44_100, channels: 1), rotation: .quarter)
    let demuxer = try Self.open(clip.write())
    let streams = demuxer.streams
    let video = try #require(streams.first { $0.kind == .video })
    let audio = try #require(streams.first { $0.kind == .audio })
    #expect(video.codec == "h264" && video.width == 480 && video.height == 270)
    #expect(video.displayMatrix == CodedRotation.quarter.displayMatrix)
    #expect(video.frameRate.quotient == 30)
    #expect(audio.codec == "aac" && audio.sampleRate == 44_100 && audio.channels == 1)
    let duration = try #require(demuxer.duration ?? video.seconds)
    #expect(abs(duration - 1) < 0.03)
  }

  @Test("reads only the packets of the selected streams")
  func selection() throws {
    let demuxer = try Self.open(MarkedClip(.red, seconds: 1, tone: .init(440)).write())
    let streams = demuxer.streams
    let audio = try #require(streams.first { $0.kind == .audio })
    demuxer.select([audio.index])
    let packet = try Packet()
    var count = 0
    while try demuxer.read(into: packet) {
      let stream = packet.stream
      #expect(stream == audio.index)
      count += 1
    }
    let indexed = demuxer.indexedPackets(of: audio.index)
    #expect(count == indexed)
    #expect(count > 40)
  }

  @Test(
    "refuses all other containers",
    arguments: [
      "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile '/etc/passwd'\n", "RIFF....AVI LIST", "",
    ])
  func otherContainers(content: String) throws {
    let file = try TemporaryFile.make(Array(content.utf8))
    #expect(throws: AVError.self) { _ = try Self.open(file) }
  }

  @Test("refuses a file with more streams than allowed")
  func streams() throws {
    let file = try MarkedClip(.red, seconds: 0.2, tone: .init(440)).write()
    #expect(throws: AVError.self) {
      _ = try Self.open(file, limits: DemuxerLimits(streams: 1, codecs: ["h264"]))
    }
  }

  @Test("never opens an external file")
  func dataReferences() throws {
    // A flag of the data entry says that the data are in this file; without the flag the entry refers to another file.
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red, seconds: 0.2).write())
    let url = Array("url ".utf8)
    let offset = try #require(bytes.indices.dropLast(8).first { Array(bytes[$0..<$0 + 4]) == url })
    bytes[offset + 7] = 0
    let file = try TemporaryFile.make(bytes)
    let demuxer = try Self.open(file)
    let packet = try Packet()
    // Packets can only come from this file.
    while (try? demuxer.read(into: packet)) == true {
      let size = packet.size
      #expect(size > 0)
    }
  }

  @Test("stops when the interrupt is raised")
  func interrupt() throws {
    let file = try MarkedClip(.red, seconds: 0.2).write()
    let flag = CancellationFlag()
    let demuxer = try Demuxer(reading: file, limits: Self.limits, interrupt: Interrupt(flag: flag))
    let packet = try Packet()
    var hasRead = try demuxer.read(into: packet)
    #expect(hasRead)
    flag.cancel()
    do {
      hasRead = try demuxer.read(into: packet)
      Issue.record("the demuxer has read another packet")
    } catch {
      #expect(error.isInterruption)
    }
    #expect(throws: AVError.self) {
      _ = try Demuxer(reading: file, limits: Self.limits, interrupt: Interrupt(seconds: 0))
    }
  }

  @Test("a damaged index does not crash the demuxer")
  func damagedIndex() throws {
    let clip = MarkedClip(.red, width: 64, height: 64, seconds: 0.2, tone: .init(440))
    let bytes = try TemporaryFile.bytes(of: clip.write())
    // A fixed generator (Knuth, MMIX), so that a failure is reproducible.
    var state: UInt64 = 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<500 {
      var damaged = bytes
      for _ in 0...next(4) { damaged[32 + next(1500)] = UInt8(next(256)) }
      guard let demuxer = try? Self.open(TemporaryFile.make(damaged)) else { continue }
      let packet = try Packet()
      var count = 0
      while count < 1000, (try? demuxer.read(into: packet)) == true { count += 1 }
      let streams = demuxer.streams
      #expect(streams.count <= 4)
    }
  }
}

@Suite("Demuxer of WebM", .tags(.media))
struct WebMDemuxerTests {
  private static let limits = DemuxerLimits(streams: 4, codecs: ["vp8", "vp9", "av1", "opus", "h264"])

  private static func open(_ file: OpenFile, as format: Demuxer.Format) throws -> Demuxer {
    try Demuxer(reading: file, as: format, limits: limits, interrupt: Interrupt())
  }

  @Test("reads the streams and packets of a recording", arguments: [MarkedClip.Codec.vp8, .vp9, .av1], [false, true])
  func streams(codec: MarkedClip.Codec, isLive: Bool) throws {
    let file = try MarkedClip.webM(.red, codec, seconds: 1, tone: 440, isLive: isLive).write()
    let demuxer = try Self.open(file, as: .webM)
    let streams = demuxer.streams
    let video = try #require(streams.first { $0.kind == .video })
    #expect(video.codec == "\(codec)" && video.width == 270 && video.height == 480 && video.isEnabled)
    #expect(video.timeBase == Rational(1, 1000) && video.displayMatrix == nil)
    #expect(streams.first { $0.kind == .audio }?.codec == "opus")
    let hasDuration = demuxer.duration != nil
    #expect(hasDuration != isLive)
    demuxer.select([video.index])
    let packet = try Packet()
    var times: [Int64] = []
    while try demuxer.read(into: packet) { times.append(packet.pts ?? -1) }
    // In milliseconds. The sound begins with its priming, in front of the first frame.
    let first = try #require(times.first)
    #expect(times.count == 30 && 0...10 ~= first)
    for (frame, time) in times.enumerated() { #expect(abs(Double(time - first) - Double(frame) * 100 / 3) <= 1) }
  }

  @Test("each demuxer refuses the files of the other")
  func others() throws {
    let webM = try MarkedClip.webM(.red, .vp8, seconds: 0.5).write()
    let mp4 = try MarkedClip(.red, seconds: 0.5).write()
    #expect(throws: AVError.self) { _ = try Self.open(webM, as: .isoBaseMedia) }
    #expect(throws: AVError.self) { _ = try Self.open(mp4, as: .webM) }
  }
}
