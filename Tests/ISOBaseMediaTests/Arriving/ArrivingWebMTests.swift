import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("WebM that arrives")
struct ArrivingWebMTests {
  private let builtIn: BuiltIn
  private let accepted: AcceptedMedia

  init() throws {
    builtIn = try BuiltIn()
    accepted = AcceptedMedia(clip: Self.limits(builtIn.moment), as: .front)
  }

  private static func limits(_ builtIn: Limits) -> Limits {
    var limits = builtIn
    limits.containers.append(.webM)
    limits.videoCodecs = ["vp8", "vp9"]
    return limits
  }

  @Test("is accepted as recorders write it", arguments: WebMWalkerTests.valid.indices)
  func valid(index: Int) throws {
    let (name, file) = WebMWalkerTests.valid[index]
    for length in [Int64(file.count), nil] {
      #expect(refusal(of: file, accepted, length: length) == nil, "\(name)")
      #expect(Judgement(file, accepted, length: length).verdict == .success("video/webm"), "\(name)")
    }
  }

  @Test("what the whole walk refuses is refused with its reason", arguments: WebMWalkerTests.damaged.indices)
  func damaged(index: Int) throws {
    let (name, file, _) = WebMWalkerTests.damaged[index]
    guard case .failure(let whole) = WebMWalkerTests.examine(file) else {
      Issue.record("the whole file is accepted")
      return
    }
    for length in [Int64(file.count), nil] {
      let found = try #require(refusal(of: file, accepted, length: length), "\(name)")
      #expect(found.reason.code == Reason(whole, input: .front).code, "\(name)")
      #expect(found.reason.detail == Reason(whole, input: .front).detail, "\(name)")
      #expect(Judgement(file, accepted, length: length).verdict == .failure(found), "\(name)")
    }
  }

  @Test("one that is cut is refused at its end, with the reason of the whole file")
  func cut() throws {
    let file = webM(videoEntry(), soundEntry(), clusters: cluster(simpleBlock(), simpleBlock(at: 33)))
    for count in 5..<file.count {
      let part = Array(file.prefix(count))
      guard case .failure(let whole) = WebMWalkerTests.examine(part) else {
        Issue.record("\(count) bytes are accepted")
        continue
      }
      for length in [Int64(count), nil] {
        let found = try #require(refusal(of: part, accepted, length: length))
        #expect(found.reason.detail == Reason(whole, input: .front).detail, "\(count)")
      }
    }
  }

  @Test(
    "the tracks are judged once they have arrived",
    arguments: [
      ([videoEntry(codec: "V_AV1")], .unsupportedCodec, "Its video is av1; vp8 or vp9 is accepted."),
      ([soundEntry(number: 1), videoEntry(number: 2, codec: "V_THEORA")], .unsupportedCodec, "Its video is V_THEORA;"),
      ([videoEntry(width: 4096, height: 4096)], .tooLarge, "Its frames have 4096x4096 pixels;"),
      ([videoEntry(extra: element(0x6D80, element(0x6240)))], .unsupportedCodec, "Its data are compressed"),
      ((1...17).map { videoEntry(number: $0) }, .unsupportedContainer, "It has 17 streams; at most 16"),
      ([soundEntry()], .noVideoStream, "The file has no video track, only 'soun'."),
    ] as [([[UInt8]], ReasonCode, String)])
  func tracks(_ entries: [[UInt8]], code: ReasonCode, detail: String) throws {
    let file = webM(entries.flatMap { $0 }, clusters: WebMWalkerTests.live, isOpen: true)
    for length in [Int64(file.count), nil] {
      let found = try #require(refusal(of: file, accepted, length: length))
      #expect(found.reason.code == code && found.reason.detail.hasPrefix(detail), "\(found.reason.detail)")
      // The frames are not needed.
      #expect(found.offset < file.count - WebMWalkerTests.live.count)
    }
  }

  @Test("another track may be the one that is shown")
  func otherTracks() {
    let file = webM(videoEntry(codec: "V_AV1"), videoEntry(number: 2), videoEntry(number: 3, width: 4096, height: 4096))
    #expect(refusal(of: file, accepted) == nil)
  }

  @Test("one that lasts too long is refused at the first frame that shows it", arguments: [5400, 5600, 100_000])
  func duration(milliseconds: Int) throws {
    func clip(_ track: UInt8, flags: UInt8 = 0x80, _ data: [UInt8] = [1]) -> [UInt8] {
      webM(
        videoEntry(), soundEntry(),
        clusters: cluster(simpleBlock(), isOpen: true)
          + cluster(at: milliseconds, simpleBlock(track: track, flags: flags, data), isOpen: true)
          + cluster(at: milliseconds, simpleBlock(), isOpen: true), isOpen: true)
    }
    let found = refusal(of: clip(1), accepted, length: nil)
    #expect(found?.reason.code == (milliseconds > 5505 ? .durationOutOfRange : nil))
    // Sound, a block without data and one of several frames are no frames.
    for file in [clip(2), clip(1, []), clip(1, flags: 0x82)] {
      let later = refusal(of: file, accepted, length: nil)
      #expect((later?.offset ?? 1) > (found?.offset ?? 0))
    }
    // An hour in ticks of a second.
    let slow = webM(
      videoEntry(), info: element(0x2A_D7B1, number: 1_000_000_000),
      clusters: cluster(simpleBlock()) + cluster(at: 3600, simpleBlock()))
    #expect(refusal(of: slow, accepted)?.reason.detail.hasPrefix("It lasts more than 3600 s;") == true)
  }

  @Test("where a definition does not allow it, it is refused by its first bytes, and the reason says what it is")
  func notAllowed() throws {
    let file = webM(videoEntry(), soundEntry())
    for media in [
      AcceptedMedia(clip: builtIn.moment, as: .front), AcceptedMedia(clip: builtIn.marker, as: .clip), builtIn.any,
    ] {
      let found = try #require(refusal(of: file, media))
      #expect(found.offset == 0 && found.reason.code == .unsupportedContainer)
      #expect(found.reason.detail.hasPrefix("The file is a WebM or Matroska file, n"))
    }
    let any = AcceptedMedia(anyOf: [builtIn.moment, Self.limits(builtIn.marker)], [builtIn.photo])
    #expect(refusal(of: file, any) == nil)
    #expect(
      refusal(of: Array("RIFF....AVI LIST".utf8) + zeros(600), any)?.reason.detail.hasPrefix(
        "The file is an AVI file, neither a MOV, MP4, 3GP or WebM video nor a photo") == true)
    let matroska = documentHeader("matroska") + file.dropFirst(documentHeader().count)
    #expect(
      refusal(of: matroska, accepted)?.reason.detail
        == "The file is a Matroska file, not a MOV, MP4, 3GP or WebM video, regardless of its name. Export the clip as MP4."
    )
  }

  @Test("frames are passed over without being read")
  func skipped() throws {
    let frame = simpleBlock([UInt8](repeating: 7, count: 100_000))
    let file = webM(videoEntry(), clusters: cluster(frame, simpleBlock(at: 33), frame), isOpen: true)
    var validator = StreamValidator(accepting: accepted, length: nil)
    var (offset, read) = (0, 0)
    while offset < file.count {
      let next = min(Int(clamping: validator.nextOffset), file.count)
      if next > offset {
        validator.skip(to: Int64(next))
        offset = next
        continue
      }
      let piece = file[offset..<min(offset + 64, file.count)]
      #expect(piece.withUnsafeBytes { validator.append($0) } == nil)
      read += piece.count
      offset += piece.count
    }
    #expect(read < 2000)
    #expect(try validator.finish() == "video/webm")
  }
}
