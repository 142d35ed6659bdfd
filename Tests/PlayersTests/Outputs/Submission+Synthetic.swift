import AV
import BoxTesting
import Definitions
import MediaFixtures
import Model
import Platform

extension Submission {
  /// The moment of `samples/` with the built-in definitions.
  static func samples() throws -> [Submission] {
    let front: Clip = { OpenFile(try Descriptor(reading: "\(OutputFolder.root)/samples/front.mp4")) }
    let back: Clip = { OpenFile(try Descriptor(reading: "\(OutputFolder.root)/samples/back.mp4")) }
    return [
      moment("samples", front: front, back: back, definition: try bothArrangements()),
      marker("sample", clip: front, definition: try Definitions.markerVideo()),
    ]
  }

  /// Returns the definition of posts with both compositions.
  static func bothArrangements() throws -> Definition {
    var definition = try Definitions.take5Post()
    definition.outputs[.composedSwapped] = definition.outputs[.composed]
    return definition
  }

  /// Synthetic clips, each with another peculiarity, on a canvas that is quick to encode.
  static func syntheticClips() throws -> [Submission] {
    var definition = try bothArrangements()
    definition.canvas.width = 270
    definition.canvas.height = 480
    let marker = try Definitions.markerVideo()
    return peculiarities().flatMap { name, front, back in
      [
        moment(name, front: front, back: back, definition: definition),
        Submission.marker(name, clip: front, definition: marker),
        Submission.marker("\(name), other", clip: back, definition: marker),
      ]
    } + recordings(definition)
  }

  /// What browsers record, also longer than five seconds, with a definition that accepts it.
  private static func recordings(_ definition: Definition) -> [Submission] {
    var definition = definition
    definition.limits.containers.append(.webM)
    definition.limits.videoCodecs += ["vp8", "vp9", "av1"]
    definition.limits.seconds = SecondsRange(shortest: 4.5, longest: 60)
    definition.limits.trimSeconds = 5
    let clips: [(String, MarkedClip, MarkedClip)] = [
      ("VP8, VP9", .webM(.red, .vp8, tone: 440, isLive: true), .webM(.blue, .vp9, tone: 1000)),
      (
        "long AV1, long H.264", .webM(.red, .av1, seconds: 7, tone: 440),
        MarkedClip(.blue, seconds: 6, tone: .init(440))
      ),
      (
        "long HEVC, long VP8", MarkedClip(.red, seconds: 8, codec: .hevc),
        .webM(.blue, .vp8, seconds: 7, tone: 440, isLive: true)
      ),
    ]
    return clips.map { name, front, back in
      moment(name, front: { try front.write() }, back: { try back.write() }, definition: definition)
    }
  }

  private static func peculiarities() -> [(String, Clip, Clip)] {
    let jitter = [-0.005, 0.004, 0, 0.005]
    let uneven = (0..<150).filter { $0 % 10 != 3 }.map { index in
      max(0, Double(index) / 30 + jitter[index % jitter.count])
    }
    let late = (0..<150).map { 0.4 + Double($0) / 30 }
    // Cameras that record 10 frames per second in the dark, and 30 in the light.
    let (dark, bright) = ((0..<25).map { Double($0) / 10 }, (0..<75).map { Double($0) / 30 })
    func made(_ clip: MarkedClip, _ change: @escaping @Sendable (inout MarkedClip) -> Void = { _ in }) -> Clip {
      { @Sendable in
        var clip = clip
        change(&clip)
        return try clip.write()
      }
    }
    func tones(_ color: MarkColor) -> MarkedClip { MarkedClip(color, tone: .init(440)) }
    func stripes(_ transfer: String) -> Clip {
      made(MarkedClip(.red, width: 360, height: 640, codec: .hevc10)) {
        $0.stripes = [64, 400, 570, 720, 940]
        $0.tags = .init(range: "tv", matrix: "bt2020nc", primaries: "bt2020", transfer: transfer)
      }
    }
    return [
      ("no audio, mono", made(MarkedClip(.red)), made(MarkedClip(.blue, tone: .init(440, channels: 1)))),
      (
        "reordered, full range", made(tones(.red)) { $0.isReordered = true },
        made(tones(.blue)) { $0.isFullRange = true }
      ),
      (
        "quarter, mirrored three quarters", made(MarkedClip(.red, tone: .init(440), rotation: .quarter)),
        made(MarkedClip(.blue, rotation: .mirroredThreeQuarters)) { $0.isReordered = true }
      ),
      ("half, mirrored", made(MarkedClip(.red, rotation: .half)), made(MarkedClip(.blue, rotation: .mirrored))),
      (
        "HEVC rotated, HEVC 10-bit", made(MarkedClip(.red, codec: .hevc, tone: .init(440), rotation: .threeQuarters)),
        made(MarkedClip(.blue, codec: .hevc10))
      ),
      ("HLG, PQ", stripes("arib-std-b67"), stripes("smpte2084")),
      (
        "variable rate, 24 fps", made(MarkedClip(.red, times: uneven, seconds: 5, tone: .init(440))),
        made(MarkedClip(.blue, framesPerSecond: 24))
      ),
      (
        "240 fps, 29.97 fps", made(MarkedClip(.red, framesPerSecond: 240)),
        made(MarkedClip(.blue, framesPerSecond: 29.97, tone: .init(440, sampleRate: 22_050)))
      ),
      (
        "variable rate reordered, HEVC 120 fps",
        made(MarkedClip(.red, times: uneven, seconds: 5, tone: .init(440))) { $0.isReordered = true },
        made(MarkedClip(.blue, framesPerSecond: 120, codec: .hevc))
      ),
      (
        "HEVC dark at first, HEVC dark at last",
        made(MarkedClip(.red, times: dark + bright.map { 2.5 + $0 }, seconds: 5, codec: .hevc, tone: .init(440))),
        made(MarkedClip(.blue, times: bright + dark.map { 2.5 + $0 }, seconds: 5, codec: .hevc))
      ),
      (
        "late start, late audio", made(MarkedClip(.red, times: late, seconds: 5.4, tone: .init(440, delay: 0.9))),
        made(MarkedClip(.blue, tone: .init(440, delay: 0.5)))
      ),
      (
        "mono PCM, surround",
        made(MarkedClip(.red, tone: .init(440, sampleRate: 44_100, channels: 1, delay: 0.5))) {
          $0.format = .mov
          $0.tone?.encoder = "pcm_f32le"
        },
        made(MarkedClip(.blue, tone: .init(440, sampleRate: 44_100, channels: 6)))
      ),
      (
        "two audio streams, wide samples", made(tones(.red)) { $0.secondTone = .init(3000) },
        made(tones(.blue)) { $0.sampleAspectRatio = .init(4, 3) }
      ),
      ("odd size, odd size rotated", odd(.upright), odd(.quarter)),
    ]
  }

  /// Returns a clip whose clean aperture (ISO/IEC 14496-12, 12.1.4) is 241 x 401 as displayed.
  private static func odd(_ rotation: CodedRotation) -> Clip {
    {
      let numbers: [UInt32] = [rotation.swapsAxes ? 401 : 241, 1, rotation.swapsAxes ? 241 : 401, 1, 0, 1, 0, 1]
      let bytes = try TemporaryFile.bytes(of: MarkedClip(.red, rotation: rotation).write())
      let path = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
      return try TemporaryFile.make(
        inserting(box("clap", numbers.flatMap { bigEndian($0) }), into: path, of: bytes) ?? bytes)
    }
  }

  /// A photo of each format and of some unusual sizes, with each definition of `photoDefinitions()`.
  static func syntheticPhotos() throws -> [Submission] {
    var photos: [(String, Clip)] = PhotoFixture.formats.map { format in
      (format, { try TemporaryFile.make(PhotoFixture.photo(in: format)) })
    }
    for (width, height) in [(33, 11), (1, 1), (1201, 799)] {
      photos.append(
        (
          "\(width)x\(height)",
          { try TemporaryFile.make(PhotoFixture.jpeg(PhotoFixture.quarters(width: width, height: height))) }
        ))
    }
    return try photos.flatMap { name, photo in
      try photoDefinitions().map { Submission.photo(name, photo, definition: $0) }
    } + animations()
  }

  /// A GIF whose images move a transparent square, with its preview.
  private static func animations() throws -> [Submission] {
    guard var definition = try Definitions.photo("photo-post") else { return [] }
    definition.name = "animations"
    definition.limits.formats.append(.gif)
    definition.preview = PhotoPreview(longEdge: 100, quality: 60)
    let images = (0..<8).map { index in
      var image = GIFFile.Image(width: 200, height: 120) { x, y in UInt8(x / 25 == index ? 3 : (x / 50 + y / 60) % 3) }
      (image.transparent, image.disposal, image.delay) = (3, 2, 10)
      return image
    }
    let colors: [UInt8] = [220, 30, 30, 30, 180, 30, 30, 30, 220, 0, 0, 0]
    let file = GIFFile(width: 200, height: 120, colors: colors, images: images)
    return [.photo("gif", { try TemporaryFile.make(file.bytes) }, definition: definition)]
  }

  /// Returns every built-in definition, and one with the formats and the chroma that those do not use.
  static func photoDefinitions() throws -> [PhotoDefinition] {
    let builtIn = try Definitions.photoNames.compactMap { try Definitions.photo($0) }
    guard var other = builtIn.first else { return [] }
    other.name = "formats"
    other.variants = [
      .photoLarge: PhotoVariant(longEdge: 1080, quality: 80, format: .webp),
      .photoMedium: PhotoVariant(longEdge: 1080, quality: 80, format: .avif),
      .photoSmall: PhotoVariant(longEdge: 321, quality: 90, format: .avif, fullChroma: true),
      .photoSquare: PhotoVariant(square: 151, quality: 95, format: .webp),
      .avatar: PhotoVariant(square: 512, quality: 95, fullChroma: true),
    ]
    return builtIn + [other]
  }
}
