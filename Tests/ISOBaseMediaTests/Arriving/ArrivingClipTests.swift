import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("Clips that arrive")
struct ArrivingClipTests {
  private let builtIn: BuiltIn
  private let accepted: AcceptedMedia

  init() throws {
    builtIn = try BuiltIn()
    accepted = AcceptedMedia(clip: builtIn.moment, as: .front)
  }

  private func examine(_ file: [UInt8]) -> Result<ContainerStructure, ContainerRefusal> {
    ContainerWalker.examine(size: Int64(file.count)) { offset, count throws(Never) in
      Array(file.dropFirst(Int(offset)).prefix(count))
    }
  }

  private static let sound = TrackFixture(handler: "soun", format: "mp4a", sampleBytes: 1)

  @Test(
    "clips as phones write them are accepted",
    arguments: [
      clip([TrackFixture()]), clip([sound, TrackFixture(format: "hvc1")]),
      clip([TrackFixture(samples: 151, edits: [(200, -1, 1), (5000, 1, 1)])]),
      clip([TrackFixture(samples: 3000, sampleBytes: 1, edits: [(5000, 600, 1)])]),
      clip([TrackFixture(handler: "meta", format: "mebx"), TrackFixture()]),
      fileType("qt  ") + box("wide") + mediaData + movie("vide", "soun"),
      fileType("3gp4") + movie("vide") + mediaData + [0, 0, 0],
      movie("vide") + largeBox("mdat", [1, 2, 3]),
      fileType("isom") + movie("vide") + mediaData + (0..<100).map { UInt8($0) },
      fileType("isom") + movie("vide") + mediaData + [0xFF, 0xD8, 0xFF, 0xE0] + zeros(300),
      fileType("isom") + movie("vide") + mediaData + [0, 0, 0, 3] + Array("junk behind a clip".utf8),
      movie("vide") + bigEndian(UInt32(0)) + Array("mdat".utf8) + [1, 2, 3],
    ])
  func accepted(file: [UInt8]) throws {
    #expect(refusal(of: file, accepted) == nil)
    #expect(refusal(of: file, accepted, length: nil) == nil)
  }

  @Test(
    "what the whole walk refuses is refused with its reason, at the box",
    arguments: [
      (fileType("isom") + bigEndian(UInt32(7)) + Array("moov".utf8) + mediaData, 20),
      (fileType("isom") + bigEndian(UInt32(1)) + Array("moov".utf8) + bigEndian(UInt64(15)) + mediaData, 20),
      (fileType("isom") + box("moov", bigEndian(UInt32(500)) + Array("trak".utf8)) + mediaData, 28),
      (fileType("isom") + box("moov", box("trak", box("mdia", box("hdlr", [0])))) + mediaData, 44),
      (box("ftyp", [1, 2]) + movie("vide") + mediaData, 0),
      (fileType("isom") + box("moov", box("trak", box("mdia", full("hdlr", zeros(20))))) + mediaData, 20),
      (fileType("isom") + movie("soun") + mediaData, 20),
      (Array((fileType("isom") + mediaData + movie("vide")).dropLast(1)), 78),
      (fileType("isom") + box("free", zeros(9)) + mediaData, 37),
      (fileType("isom") + movie("vide"), 20 + movie("vide").count),
      (fileType("heic") + movie("vide") + mediaData, 0),
      (movie("vide") + box("moof") + mediaData + [0, 0, 0], movie("vide").count + 8 + mediaData.count),
      (fileType("isom") + movie("vide") + (0..<10_001).flatMap { _ in box("free") } + mediaData, nil),
    ] as [([UInt8], Int?)])
  func broken(file: [UInt8], offset: Int?) throws {
    guard case .failure(let whole) = examine(file) else {
      Issue.record("the whole file is accepted")
      return
    }
    let found = try #require(refusal(of: file, accepted))
    #expect(found.reason.code == Reason(whole, input: .front).code)
    #expect(found.reason.detail == Reason(whole, input: .front).detail)
    if let offset { #expect(found.offset == offset) }
    #expect(Judgement(file, accepted, length: Int64(file.count)).verdict == .failure(found))
    // The same if the length shows only at the end.
    guard case .failure(let last) = Judgement(file, accepted, length: nil).verdict else {
      Issue.record("the file is accepted at its end")
      return
    }
    #expect(last.reason.code == found.reason.code && last.reason.detail == found.reason.detail)
  }

  @Test("a container that is not accepted is refused at its brand")
  func family() throws {
    var limits = builtIn.moment
    limits.containers = [.mov]
    let found = try #require(refusal(of: clip([TrackFixture()]), AcceptedMedia(clip: limits, as: .back)))
    #expect(found.reason.code == .unsupportedContainer)
    #expect(found.reason.detail == "It is a mp4 file; mov is accepted. Export the clip as MP4.")
    #expect(found.offset == 0)
    // Without a brand it is known at the end.
    limits.containers = [.mp4]
    let unbranded = refusal(of: movie("vide") + mediaData, AcceptedMedia(clip: limits, as: .back))
    #expect(unbranded?.reason.code == .unsupportedContainer)
  }

  @Test(
    "the tracks are judged by the index",
    arguments: [
      ([TrackFixture(format: "av01")], .unsupportedCodec),
      ([sound, TrackFixture(format: "vvc1")], .unsupportedCodec),
      ([TrackFixture(format: "mp4v", extensions: mpeg4), TrackFixture(format: "jpeg")], .unsupportedCodec),
      ([TrackFixture(width: 4096, height: 4096)], .tooLarge),
      ([TrackFixture(format: "hev1", extensions: box("dvcC", [1, 0, 10, 0, 0]))], .unsupportedCodec),
      ([TrackFixture(samples: 300)], .durationOutOfRange),
      ([TrackFixture(samples: 3000, sampleBytes: 1, compositionOffset: 2)], .durationOutOfRange),
      ([TrackFixture(samples: 300, edits: [(8000, 30, 1)])], .durationOutOfRange),
      ([TrackFixture(chunkOffset: 1 << 20)], .truncatedContainer),
      ([TrackFixture](repeating: TrackFixture(), count: 17), .unsupportedContainer),
    ] as [([TrackFixture], ReasonCode)])
  func tracks(_ tracks: [TrackFixture], code: ReasonCode) throws {
    let found = try #require(refusal(of: clip(tracks), accepted))
    #expect(found.reason.code == code)
    #expect(found.offset == 20)
    #expect(found.reason.byteOffset == 20)
    // At the end they are no reason: a probe of the whole file may find others.
    #expect(Judgement(clip(tracks), accepted, length: nil).verdict == .success("video/mp4"))
  }

  @Test("a duration of billions of years, in a file whose length is not known yet, is refused as any other")
  func longest() throws {
    let track = TrackFixture(samples: (1 << 32) - 1, sampleDuration: (1 << 28) - 1, timescale: 1, sampleBytes: 1)
    let found = try #require(refusal(of: clip([track]), accepted, length: nil))
    #expect(found.reason.code == .durationOutOfRange)
    // At the end it shows that the file is too short for so many samples.
    guard case .failure(let whole) = examine(clip([track])),
      case .failure(let last) = Judgement(clip([track]), accepted, length: nil).verdict
    else {
      Issue.record("the file is accepted at its end")
      return
    }
    #expect(last.reason == Reason(whole, input: .front))
  }

  private static let mpeg4 = full("esds", [3, 0x80, 0x80, 0x20, 0, 0, 0, 4, 0x11, 0x20])

  @Test(
    "tracks are accepted where a demuxer may find something else",
    arguments: [
      // Another track can be decoded.
      clip([TrackFixture(format: "av01"), TrackFixture()]), clip([TrackFixture(samples: 300), TrackFixture()]),
      clip([TrackFixture(width: 4096, height: 4096), TrackFixture()]),
      // The format is not known, or another box changes it.
      clip([TrackFixture(format: "abcd")]), clip([TrackFixture(format: "av01", extensions: mpeg4)]),
      clip([TrackFixture(format: "av01", extensions: box("sinf", box("frma", Array("avc1".utf8))))]),
      clip([TrackFixture(handler: "meta", format: "avc1"), TrackFixture(format: "av01")]),
      // The tables are doubled, hidden or contradictory.
      clip([TrackFixture(format: "av01")], extra: box("udta", TrackFixture().box)),
      clip([TrackFixture(format: "av01")], extra: box("free", zeros(4), Array("stsd".utf8))),
      clip([TrackFixture(samples: 300)], extra: box("udta", full("stts", number(1), number(300), number(1)))),
      clip([TrackFixture(samples: 300, edits: [(1000, 0, 1), (1000, 60, 1)])]),
      clip([TrackFixture(samples: 300, edits: [(9000, 0, 0)])]),
      clip([TrackFixture(samples: 300, compositionOffset: 200)]),
      clip([TrackFixture(chunkOffset: 1 << 20, edits: [(1000, 0, 1)])]),
      fileType("isom") + box("free", zeros(4), Array("mvhd".utf8)) + movie(of: [TrackFixture(format: "av01")])
        + mediaData,
      fileType("isom") + box("trak") + movie(of: [TrackFixture(format: "av01")]) + mediaData,
    ])
  func uncertain(file: [UInt8]) { #expect(refusal(of: file, accepted) == nil) }

  @Test("the frames behind the end of the file are counted, if its length is known")
  func missingFrames() throws {
    let file = clip([TrackFixture(chunkOffset: 1 << 20)])
    #expect(refusal(of: file, accepted)?.reason.detail.hasPrefix("150 of its 150 frames lie beyond the end") == true)
    #expect(refusal(of: file, accepted, length: nil) == nil)
  }

  @Test("a box that extends to the end of a file of unknown length ends with it")
  func openBox() throws {
    let open = bigEndian(UInt32(0)) + Array("free".utf8) + zeros(600)
    let file = fileType("isom") + movie("vide") + open
    let found = try #require(refusal(of: file, accepted, length: nil))
    #expect(found.reason.detail == refusal(of: file, accepted)?.reason.detail)
    #expect(found.reason.byteOffset == Int64(file.count))
    #expect(
      refusal(of: fileType("isom") + mediaData + number(0) + movie("vide").dropFirst(4), accepted, length: nil) == nil)
  }

  @Test("a doomed file of 20 MB is refused within its first 512 KiB")
  func doomed() throws {
    let size = 20_000_000
    let data = { (start: [UInt8]) in start + number(size - start.count) + Array("mdat".utf8) }
    for start in [
      data(fileType("isom")), data(fileType("isom") + movie(of: [TrackFixture(format: "av01")])),
      data(fileType("isom") + movie(of: [TrackFixture(samples: 20_000)])), data(fileType("isom") + movie("soun")),
      fileType("isom") + movie("vide") + number(size) + Array("mdat".utf8),
    ] {
      let arrived = start + zeros(512 * 1024 - start.count)
      var validator = StreamValidator(accepting: builtIn.any, length: Int64(size))
      #expect(arrived.withUnsafeBytes { validator.append($0) } != nil)
    }
  }

  @Test("an index of any size takes bounded memory, and what is too large is not judged")
  func largeIndex() throws {
    // An index of 2 GB, of which a part arrives.
    var validator = StreamValidator(accepting: builtIn.any, length: nil)
    let start =
      fileType("isom") + number(0x7FFF_FFFF) + Array("moov".utf8) + number(0x7FFF_0000) + Array("udta".utf8)
      + zeros(1000)
    #expect(start.withUnsafeBytes { validator.append($0) } == nil)
    #expect(validator.nextOffset > 0x7FFF_0000)
    // An index with a megabyte in front of its track.
    let large = box("moov", full("mvhd", zeros(96)), box("free", zeros(1 << 20)), TrackFixture(format: "av01").box)
    #expect(refusal(of: fileType("isom") + large + mediaData, accepted) == nil)
    // A million small boxes.
    let small = fileType("isom") + (0..<1_000_000).flatMap { _ in [0, 0, 0, 8] + Array("free".utf8) }
    let found = try #require(Judgement(small, accepted, in: .whole, length: Int64(small.count)).refusal)
    #expect(found.offset < 100_000)
  }
}
