import AV
import BoxTesting
import Glibc
import Kernels
import MediaFixtures
import Platform
import Stills

/// The files that mutations start from.
package struct Corpus: Sendable {
  package var clips: [Source]
  package var photos: [Source]
  /// Recordings of real phones, and hostile files; empty if none are available.
  package var fieldClips: [Source] = []
  package var fieldPhotos: [Source] = []

  /// Small synthetic files of every kind that is accepted, which are decoded and composed in milliseconds.
  package static func synthetic() throws -> Corpus {
    HEIFLibrary.load()
    return Corpus(clips: try SyntheticClips.all(), photos: try SyntheticPhotos.all())
  }

  /// The sample clips of a folder, and synthetic photos.
  package static func samples(in folder: String) throws -> Corpus {
    HEIFLibrary.load()
    let clips = try ["front.mp4", "back.mp4"].map { name in
      Source(name, try Descriptor(reading: "\(folder)/\(name)").contents())
    }
    return Corpus(clips: clips, photos: try SyntheticPhotos.all())
  }

  /// Adds the files of a folder with field media.
  ///
  /// - Parameters:
  ///   - clipBytes: the length of the longest clip.
  ///   - photoBytes: the length of the longest photo.
  package mutating func addField(from folder: String, clipBytes: Int, photoBytes: Int) throws {
    for (part, isPhoto) in [("videos", false), ("photos", true), ("hostile", false), ("hostile", true)] {
      let names = try Folder.names(in: "\(folder)/\(part)").filter { Self.isPhoto($0) == isPhoto }.sorted()
      for name in names {
        let bytes = try Descriptor(reading: "\(folder)/\(part)/\(name)").contents()
        guard bytes.count <= (isPhoto ? photoBytes : clipBytes), !bytes.isEmpty else { continue }
        if isPhoto { fieldPhotos.append(Source(name, bytes)) } else { fieldClips.append(Source(name, bytes)) }
      }
    }
  }

  private static func isPhoto(_ name: String) -> Bool {
    ![".mp4", ".mov", ".3gp", ".webm"].contains { name.hasSuffix($0) }
  }
}

/// Clips of 0.6 seconds.
private enum SyntheticClips {
  static func all() throws -> [Source] {
    var sources = try clips.map { name, clip in Source(name, try TemporaryFile.bytes(of: clip.write())) }
    for (name, edits) in edits {
      guard let bytes = editing(edits, ofTrack: 0, of: sources[0].bytes) else { continue }
      sources.append(Source(name, bytes))
    }
    for (name, index) in [("fragments.mp4", 0), ("fragments of HEVC.mp4", 2)] {
      guard let movie = sources[index].movie else { continue }
      sources.append(Source(name, movie.fragmented(samplesPerFragment: 4)))
    }
    return sources
  }

  private static let edits = [
    ("an edit list.mp4", [Edit(0.1, from: nil), Edit(0.4, from: 0.2)]),
    ("two edits.mp4", [Edit(0.3, from: 0.2), Edit(0.3, from: 0)]),
  ]

  private static func clip(
    _ color: MarkColor = .red, codec: MarkedClip.Codec = .h264, tone: MarkedClip.Tone? = .init(440),
    rotation: CodedRotation = .upright, _ change: (inout MarkedClip) -> Void = { _ in }
  ) -> MarkedClip {
    var clip = MarkedClip(
      color, width: 96, height: 160, seconds: 0.6, framesPerSecond: 15, codec: codec, tone: tone, rotation: rotation)
    // One thread, so that the bytes do not depend on the number of cores.
    clip.x264 = "threads=1"
    change(&clip)
    return clip
  }

  private static func webM(
    _ color: MarkColor, _ codec: MarkedClip.Codec, _ change: (inout MarkedClip) -> Void = { _ in }
  ) -> MarkedClip {
    clip(color, codec: codec, tone: .init(440, channels: 1)) { clip in
      clip.format = .webm
      clip.tone?.encoder = "libopus"
      change(&clip)
    }
  }

  private static let clips: [(String, MarkedClip)] = [
    ("H.264.mp4", clip()),
    ("B frames.mp4", clip(.blue) { $0.isReordered = true }),
    ("HEVC.mp4", clip(.green, codec: .hevc)),
    ("HEVC with 10 bits.mp4", clip(codec: .hevc10, tone: nil)),
    ("rotated.mp4", clip(.blue, rotation: .quarter)),
    ("mirrored.mp4", clip(rotation: .mirroredHalf)),
    ("interlaced.mp4", clip { $0.isInterlaced = true }),
    ("cropped.mp4", clip(.green) { $0.croppedColumns = 4 }),
    (
      "PCM.mov",
      clip(.blue, tone: .init(440, channels: 1)) {
        $0.format = .mov
        $0.tone?.encoder = "pcm_f32le"
      }
    ),
    ("variable.mp4", clip { $0.times = [0, 0.1, 0.12, 0.3, 0.31, 0.5] }),
    ("two sounds.mp4", clip { $0.secondTone = .init(1000, sampleRate: 44_100, channels: 1) }),
    ("no sound.mp4", clip(.green, tone: nil) { $0.sampleAspectRatio = .init(3, 2) }),
    ("full range.mp4", clip(.blue) { $0.isFullRange = true }),
    ("VP8.webm", webM(.red, .vp8)),
    ("VP9 from a browser.webm", webM(.blue, .vp9) { $0.isLive = true }),
    ("AV1 from a browser.webm", webM(.green, .av1) { $0.isLive = true }),
    ("VP8 of odd size.webm", webM(.blue, .vp8) { ($0.width, $0.height, $0.tone) = (95, 161, nil) }),
  ]
}

/// Photos of some thousand pixels.
private enum SyntheticPhotos {
  static func all() throws -> [Source] {
    var sources: [Source] = []
    for (width, height) in [(96, 64), (37, 51)] {
      for format in PhotoFixture.formats + ["gif"] {
        let bytes = try PhotoFixture.photo(in: format, width: width, height: height)
        sources.append(Source("\(width)x\(height).\(format)", bytes))
      }
    }
    let deep = PhotoFixture.png(width: 20, height: 30, bits: 16) { x, y in
      [UInt16(x * 3000), UInt16(y * 2000), 7, .max]
    }
    sources.append(Source("16 bits.png", deep))
    for format in ["heic", "avif"] { sources += try items(format) }
    return sources + [Source("animated.gif", animated.bytes)]
  }

  /// Images that each leave something else behind: interlaced with a transparent colour, with a table of its own, and on a part of
  /// the canvas.
  private static var animated: GIFFile {
    let colors: [UInt8] = [220, 30, 30, 30, 180, 30, 30, 30, 220, 230, 220, 40]
    var first = GIFFile.Image(width: 30, height: 20) { x, y in UInt8((x + y) % 4) }
    (first.left, first.top, first.isInterlaced, first.transparent, first.delay) = (5, 3, true, 2, 10)
    first.disposal = 2
    var second = GIFFile.Image(width: 40, height: 30) { x, y in UInt8(x * y % 4) }
    (second.colors, second.delay, second.disposal) = (colors.reversed(), 10, 3)
    var third = GIFFile.Image(width: 20, height: 10) { x, _ in UInt8(x % 4) }
    (third.left, third.top, third.delay) = (10, 10, 30)
    var file = GIFFile(width: 40, height: 30, colors: colors, images: [first, second, third])
    file.extensions = GIFFile.text(0xFE, "a comment")
    return file
  }

  /// A rotated image with Exif data and an alpha channel, and a grid.
  private static func items(_ format: String) throws -> [Source] {
    let bytes = try PhotoFixture.photo(in: format, width: 64, height: 64)
    guard let plain = HEIFFile(extractingFrom: bytes) else { return [] }
    var rotated = plain
    rotated.items[0].properties += [box("irot", [1]), box("imir", [0])]
    var alpha = plain.items[0]
    alpha.properties.append(auxiliaryType("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
    _ = rotated.add(alpha, ("auxl", [1]))
    let exif = [0, 0, 0, 6] + Array("Exif\0\0".utf8) + PhotoFixture.exif(orientation: 6, hasPosition: true)
    _ = rotated.add(.init("Exif", data: exif), ("cdsc", [1]))
    var tiled = plain
    tiled.primary = tiled.add(
      .init("grid", properties: [extents(128, 64)], data: grid(rows: 1, columns: 2, width: 128, height: 64)),
      ("dimg", [1, 1]))
    return [Source("items.\(format)", rotated.bytes), Source("grid.\(format)", tiled.bytes)]
  }
}
