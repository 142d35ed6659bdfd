import BoxTesting
import Model
import Testing

@testable import ISOBaseMedia

@Suite("Lists of boxes")
struct BoxListTests {
  private static func free(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in box("free") } }

  @Test("boxes in front of the tracks hide none of them", arguments: [0, 5000, 9000])
  func beforeTracks(count: Int) throws {
    let vision = box("dvcC", [1, 0, 5 << 1, 0, 0] + zeros(19))
    let content = Self.free(count) + movie(of: [TrackFixture(format: "hev1", extensions: vision)]).dropFirst(8)
    #expect(MovieMetadata(movie: content).tracks.map(\.dolbyVision?.profile) == [5])
    let tracks = try #require(VideoTracks(movie: content)).tracks
    #expect(tracks.map(\.codec) == ["hevc"] && tracks.first?.samples?.count == 150)
  }

  @Test("entries of user data and of a sample description hide none behind them", arguments: [0, 5000, 20_000])
  func insideLists(count: Int) {
    let placed = box("udta", Self.free(count), box("loci", [0]))
    #expect(MovieMetadata(movie: placed).identifying.map(\.key) == ["loci"])
    let vision = Self.free(count) + box("dvcC", [1, 0, 5 << 1, 0, 0] + zeros(19))
    let content = Array(movie(of: [TrackFixture(format: "hev1", extensions: vision)]).dropFirst(8))
    #expect(MovieMetadata(movie: content).tracks.first?.dolbyVision?.profile == 5)
  }

  @Test(
    "a box longer than its bytes is cut, also if 63 bits do not hold its size",
    arguments: [40, 1 << 63, .max] as [UInt64])
  func cut(size: UInt64) throws {
    let long = bigEndian(UInt32(1)) + Array("meta".utf8) + bigEndian(size) + [1, 2, 3]
    let boxes = Array(Box.list(in: (box("free", [7]) + long)[...]))
    #expect(boxes.map(\.type) == ["free", "meta"] && boxes.map(\.isCut) == [false, true])
    #expect(boxes.map { Array($0.content) } == [[7], [1, 2, 3]])
  }

  @Test("a list ends before bytes that are no header, and with a box without a size")
  func end() {
    for rest in [[0, 0, 0], bigEndian(UInt32(7)) + Array("free".utf8), bigEndian(UInt32(1)) + Array("free".utf8)] {
      #expect(Box.list(in: (box("skip") + rest)[...]).map(\.type) == ["skip"])
    }
    let open = bigEndian(UInt32(0)) + Array("mdat".utf8) + box("free")
    #expect(Box.list(in: open[...]).map { $0.content.count } == [8])
  }
}
