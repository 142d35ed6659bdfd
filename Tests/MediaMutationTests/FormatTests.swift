import BoxTesting
import Testing

@testable import MediaMutation

@Suite("Formats that mutations keep right")
struct FormatTests {
  static let corpus = Result { try Corpus.synthetic() }

  static func clip(_ name: String) throws -> Source {
    try #require(try corpus.get().clips.first { $0.name == name })
  }

  @Test("a file of boxes is written as it was read")
  func boxes() throws {
    let corpus = try Self.corpus.get()
    let clips = corpus.clips.filter { !$0.name.hasSuffix(".webm") }
    let sources = clips + corpus.photos.filter { $0.name.hasSuffix("heic") || $0.name.hasSuffix("avif") }
    #expect(sources.count >= 20)
    for source in sources {
      #expect(try #require(source.tree).bytes == source.bytes, "\(source.name)")
    }
  }

  @Test("a WebM is written as it was read, whether its sizes are known or not")
  func elements() throws {
    let sources = try Self.corpus.get().clips.filter { $0.name.hasSuffix(".webm") }
    #expect(sources.count == 4)
    for source in sources {
      let tree = try #require(source.elements)
      #expect(try #require(ElementTree(tree.bytes)).bytes == tree.bytes, "\(source.name)")
      #expect(tree.paths(to: 0xA3).count >= 9 && tree.live.paths(to: 0xA3).count == tree.paths(to: 0xA3).count)
      let isLive = source.name.contains("browser")
      #expect(tree.paths(to: 0x1F43_B675).allSatisfy { tree[$0].hasUnknownSize == isLive }, "\(source.name)")
      #expect((tree.bytes == source.bytes) == isLive, "\(source.name)")
    }
  }

  @Test("the offsets of samples follow a box that is added in front of them")
  func sampleOffsets() throws {
    for name in ["H.264.mp4", "PCM.mov"] {
      let source = try Self.clip(name)
      var tree = try #require(source.tree)
      tree.boxes.insert(BoxTree.Node("free", [UInt8](repeating: 7, count: 100)), at: 1)
      let movie = try #require(SampledMovie(tree.bytes))
      let samples = try #require(source.movie).tracks.map { $0.samples.map(\.bytes) }
      #expect(movie.tracks.map { $0.samples.map(\.bytes) } == samples, "\(name)")
    }
  }

  @Test("the locations of items follow a box that is added in front of them", arguments: ["heic", "avif"])
  func itemOffsets(format: String) throws {
    let source = try #require(try Self.corpus.get().photos.first { $0.name == "items.\(format)" })
    var tree = try #require(source.tree)
    tree.boxes.insert(BoxTree.Node("free", [1, 2, 3]), at: 1)
    #expect(try Self.image(tree.bytes) == Self.image(source.bytes))
  }

  private static func image(_ bytes: [UInt8]) throws -> [UInt8] { try RewrittenHEIF.bytes(of: bytes) }

  @Test("the data of a fragment follow a header that grows")
  func fragmentOffsets() throws {
    let source = try Self.clip("fragments.mp4")
    var tree = try #require(source.tree)
    let old = try #require(Self.runOffset(tree))
    let path = try #require(tree.paths(to: "moof").first)
    tree[path].children?.append(BoxTree.Node("free", [UInt8](repeating: 0, count: 92)))
    let new = try #require(BoxTree(tree.bytes))
    #expect(Self.runOffset(new) == old + 100)
  }

  private static func runOffset(_ tree: BoxTree) -> Int? {
    tree.first("trun").map { BoxTree.word($0.fields, 8) }
  }

  @Test("a clip that is written from its samples has the same samples, times and sync samples")
  func samples() throws {
    for source in try Self.corpus.get().clips {
      guard let movie = source.movie else { continue }
      let again = try #require(SampledMovie(movie.bytes), "\(source.name)")
      for (one, other) in zip(movie.tracks, again.tracks) {
        #expect(one.samples.map(\.bytes) == other.samples.map(\.bytes), "\(source.name)")
        #expect(one.samples.map(\.duration) == other.samples.map(\.duration))
        #expect(one.samples.map(\.delay) == other.samples.map(\.delay))
        #expect(one.samples.map(\.isSync) == other.samples.map(\.isSync))
      }
    }
  }

  @Test("the NAL units of a sample are found, and their lengths stay right", arguments: ["H.264.mp4", "HEVC.mp4"])
  func units(name: String) throws {
    let track = try #require(try Self.clip(name).movie?.tracks.first { $0.lengthBytes != nil })
    let lengthBytes = try #require(track.lengthBytes)
    let isHEVC = track.entry.hasPrefix("h")
    var kinds: Set<AccessUnit.Kind> = []
    for (index, sample) in track.samples.enumerated() {
      var unit = AccessUnit(sample.bytes, lengthBytes: lengthBytes, isHEVC: isHEVC)
      #expect(unit.bytes == sample.bytes)
      kinds.formUnion(unit.units.map(unit.kind))
      var choices = Choices(seed: UInt64(index))
      for _ in 0..<50 { unit.change(&choices) }
      #expect(
        AccessUnit(unit.bytes, lengthBytes: lengthBytes, isHEVC: isHEVC).units == unit.units.filter { !$0.isEmpty })
    }
    // x265 writes no SEI into the samples.
    #expect(kinds.isSuperset(of: isHEVC ? [.slice] : [.slice, .information]))
  }

  @Test("a JPEG, a PNG, a WebP and a GIF are written as they were read")
  func photos() throws {
    for source in try Self.corpus.get().photos {
      if let jpeg = source.jpeg { #expect(jpeg.bytes == source.bytes, "\(source.name)") }
      if let chunks = source.chunks { #expect(chunks.bytes == source.bytes, "\(source.name)") }
      if let gif = source.gif { #expect(gif.bytes == source.bytes && !gif.blocks.isEmpty, "\(source.name)") }
      let isKnown = source.jpeg != nil || source.chunks != nil || source.tree != nil || source.gif != nil
      #expect(isKnown, "\(source.name)")
    }
  }

  @Test("the same seed gives the same mutation, and another seed another one")
  func repeatable() throws {
    let mutator = Mutator(try Self.corpus.get())
    let jobs = (0..<200 as Range<UInt64>).map { mutator.job(seed: $0) }
    #expect(jobs == (0..<200 as Range<UInt64>).map { mutator.job(seed: $0) })
    #expect(Set(jobs).count > 190)
  }
}
