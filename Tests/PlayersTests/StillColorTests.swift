import Definitions
import MediaFixtures
import Model
import Platform
import Stills
import Testing

/// The means of red, green and blue, as other programs decode stills, and as the standards' formulas give them from the planes of video.
@Suite("Colours of stills", .tags(.players), .serialized)
struct StillColorTests {
  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  /// How the clips are coded.
  struct Coding: Sendable, CustomTestStringConvertible {
    let name: String
    let matrix: String
    let primaries: String
    let transfer: String
    var isFullRange = false

    var isHDR: Bool { matrix == "bt2020nc" }
    var testDescription: String { name }
  }

  static let codings = [
    Coding(name: "BT.709", matrix: "bt709", primaries: "bt709", transfer: "bt709"),
    Coding(name: "BT.709, full range", matrix: "bt709", primaries: "bt709", transfer: "bt709", isFullRange: true),
    Coding(name: "BT.601", matrix: "smpte170m", primaries: "smpte170m", transfer: "smpte170m"),
    Coding(
      name: "BT.601, full range", matrix: "smpte170m", primaries: "smpte170m", transfer: "smpte170m", isFullRange: true),
    Coding(name: "HLG", matrix: "bt2020nc", primaries: "bt2020", transfer: "arib-std-b67"),
    Coding(name: "PQ", matrix: "bt2020nc", primaries: "bt2020", transfer: "smpte2084"),
  ]

  /// Writes a clip that does not move, and returns its path.
  private static func clip(_ coding: Coding, _ camera: Camera) async throws -> String {
    let path = "\(OutputFolder.path)/still \(coding.name) \(camera.rawValue).mp4"
    let (range, matrix) = (coding.isFullRange ? "pc" : "tv", coding.isHDR ? "bt2020" : coding.matrix)
    // Colours of all kinds: one alone would show the rounding of its codes.
    let phase = camera == .front ? 0 : 1
    let waves = [
      "r": "sin(X/23+\(phase))*cos(Y/31)", "g": "sin(X/37+1)*cos(Y/19+\(phase))", "b": "cos(X/29)*sin(Y/41+2)",
    ]
    let colors = waves.map { "\($0.key)='128+70*\($0.value)'" }.sorted().joined(separator: ":")
    let picture = "nullsrc=s=540x960:r=30,trim=end_frame=1,geq=\(colors),loop=loop=149:size=1,setpts=N/30/TB"
    // Parameter sets may lie among the frames of the front clip, which is therefore encoded.
    let codec =
      coding.isHDR
      ? ["libx265", "-x265-params", "log-level=error:crf=8", "-tag:v", "hvc1"]
      : ["libx264", "-crf", "8", "-tag:v", camera == .front ? "avc3" : "avc1"]
    let format = coding.isHDR ? "yuv420p10le" : coding.isFullRange ? "yuvj420p" : "yuv420p"
    try await run(
      "ffmpeg",
      [
        "-nostdin", "-y", "-v", "error", "-f", "lavfi", "-i", picture, "-t", "5", "-vf",
        "scale=out_color_matrix=\(matrix):out_range=\(range),format=\(format)", "-preset", "ultrafast", "-colorspace",
        coding.matrix, "-color_primaries", coding.primaries, "-color_trc", coding.transfer, "-color_range", range,
        "-c:v",
      ] + codec + [path])
    return path
  }

  private static func run(_ name: String, _ arguments: [String]) async throws {
    let run = try await Program.run(name, arguments)
    #expect(run.status == 0, "\(name): \(run.errors)")
  }

  /// The means over the lower half of an image; the inset is in the upper one.
  private typealias Means = SIMD3<Double>

  /// Of the frame after a second of a video, from its planes (ITU-T H.273, 8.3).
  private static func means(ofVideo path: String) async throws -> Means {
    let entries = "stream=width,height,pix_fmt,color_space,color_range"
    let probe = try await Program.run(
      "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", entries, "-of", "default=nk=0", path])
    let lines = probe.output.split(separator: "\n").map { $0.split(separator: "=").map(String.init) }
    let facts = Dictionary(uniqueKeysWithValues: lines.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
    let (width, height) = (
      try #require(facts["width"].flatMap { Int($0) }), try #require(facts["height"].flatMap { Int($0) })
    )
    let format = try #require(facts["pix_fmt"])
    let raw = "\(path).yuv"
    try await run(
      "ffmpeg",
      [
        "-nostdin", "-y", "-v", "error", "-noautorotate", "-ss", "1", "-i", path, "-frames:v", "1", "-f", "rawvideo",
        "-pix_fmt", format, raw,
      ])
    let bytes = try Descriptor(reading: raw).contents()
    try #require(bytes.count == width * height * 3 / 2, "\(format)")
    func mean(_ start: Int, _ width: Int, _ height: Int) -> Double {
      let half = bytes[(start + height / 2 * width)..<(start + height * width)]
      return half.reduce(0) { $0 + Double($1) } / Double(half.count)
    }
    let isFull = facts["color_range"] == "pc"
    let (red, blue) = facts["color_space"] == "bt709" ? (0.2126, 0.0722) : (0.299, 0.114)
    let chroma = width * height / 4
    let y = mean(0, width, height)
    let luma = isFull ? y / 255 : (y - 16) / 219
    let span = isFull ? 255.0 : 224
    let u = (mean(width * height, width / 2, height / 2) - 128) / span
    let v = (mean(width * height + chroma, width / 2, height / 2) - 128) / span
    let (r, b) = (luma + 2 * (1 - red) * v, luma + 2 * (1 - blue) * u)
    return 255 * Means(r, (luma - red * r - blue * b) / (1 - red - blue), b)
  }

  /// Of an image, as djpeg, dwebp or avifdec decode it.
  private static func means(of output: Output, lowerHalf: Bool) async throws -> Means {
    let map = "\(output.path).ppm"
    switch output.type {
    case "image/jpeg": try await run("djpeg", ["-outfile", map, output.path])
    case "image/avif":
      try await run("avifdec", ["--jobs", "1", output.path, "\(output.path).png"])
      try await run("vips", ["copy", "\(output.path).png", map])
    default:
      var path = output.path
      if output.name.hasSuffix("preview") {
        // Frames that are alike are one, and then it is a still.
        let frame = "\(output.path).frame.webp"
        let found = try await Program.run("webpmux", ["-get", "frame", "1", output.path, "-o", frame])
        if found.status == 0 { path = frame }
      }
      try await run("dwebp", ["-quiet", path, "-ppm", "-o", map])
    }
    return try means(ofMap: map, lowerHalf: lowerHalf)
  }

  /// Of a PPM of 8 bits.
  private static func means(ofMap path: String, lowerHalf: Bool) throws -> Means {
    let bytes = try Descriptor(reading: path).contents()
    // Three lines, and comments.
    var lines: [String] = []
    var start = 0
    while lines.count < 3, let end = bytes[start...].firstIndex(of: 10) {
      let line = String(decoding: bytes[start..<end], as: UTF8.self)
      if !line.hasPrefix("#") { lines.append(line) }
      start = end + 1
    }
    let fields = lines.flatMap { $0.split(separator: " ").map(String.init) }
    try #require(fields.count == 4)
    try #require(fields[0] == "P6" && fields[3] == "255", "\(fields)")
    let (width, height) = (try #require(Int(fields[1])), try #require(Int(fields[2])))
    return means(Array(bytes[start...]), width: width, height: height, lowerHalf: lowerHalf)
  }

  private static func means(_ bytes: [UInt8], width: Int, height: Int, lowerHalf: Bool) -> Means {
    let first = lowerHalf ? height / 2 : 0
    var sums = Means()
    for index in stride(from: 3 * first * width, to: 3 * width * height, by: 3) {
      sums += Means(Double(bytes[index]), Double(bytes[index + 1]), Double(bytes[index + 2]))
    }
    return sums / Double((height - first) * width)
  }

  private static func expectSame(_ found: Means, _ expected: Means, _ name: String, within limit: Double = 0.5) {
    let difference = found - expected
    #expect(max(difference.max(), -difference.min()) < limit, "\(name) differs by \(difference) codes in the mean")
  }

  @Test(
    "stills and clips differ from the video beside them by less than half a code in the mean, and the preview by three quarters",
    arguments: codings)
  func clips(coding: Coding) async throws {
    var definition = try Submission.bothArrangements()
    (definition.canvas.width, definition.canvas.height) = (540, 960)
    let (front, back) = (try await Self.clip(coding, .front), try await Self.clip(coding, .back))
    let outputs = try await onThread("make") { [definition] in
      try Submission.moment(
        "still \(coding.name)", front: { OpenFile(try Descriptor(reading: front)) },
        back: { OpenFile(try Descriptor(reading: back)) }, definition: definition
      ).outputs()
    }
    func output(_ role: Role) throws -> Output {
      try #require(outputs.first { $0.name.hasSuffix(" \(role.rawValue)") }, "\(role.rawValue)")
    }
    for (video, stills) in [
      (Role.composed, [Role.poster, .preview]), (.clipFront, [.thumbnailFront]), (.clipBack, [.thumbnailBack, .image]),
    ] {
      let expected = try await Self.means(ofVideo: output(video).path)
      for still in stills {
        let name = "\(coding.name): \(still.rawValue)"
        // libwebp shifts red and blue by up to half a code on its own.
        let limit = still == .preview ? 0.75 : 0.5
        Self.expectSame(try await Self.means(of: output(still), lowerHalf: true), expected, name, within: limit)
      }
      guard !coding.isHDR, video != .composed else { continue }
      let source = try await Self.means(ofVideo: video == .clipFront ? front : back)
      Self.expectSame(expected, source, "\(coding.name): \(video.rawValue)")
    }
  }

  @Test(
    "variants of photos differ from the photo by less than half a code in the mean", arguments: PhotoFixture.formats)
  func photos(format: String) async throws {
    let image = PhotoFixture.image(width: 480, height: 320) { x, y in
      (UInt8(40 + x / 3), UInt8(60 + y / 2), UInt8(200 - x / 4))
    }
    let photo: [UInt8]
    switch format {
    case "jpeg": photo = try PhotoFixture.jpeg(image)
    case "progressive": photo = try PhotoFixture.libjpeg(image, quality: 95, isProgressive: true)
    case "png":
      photo = PhotoFixture.png(width: image.width, height: image.height) { x, y in
        (0..<3).map { UInt16(image.bytes[3 * (y * image.width + x) + $0]) } + [255]
      }
    case "webp": photo = try ImageEncoder.webp.encode(image, quality: 95)
    default: photo = try PhotoFixture.heic(image, isAVIF: format == "avif")
    }
    let expected = Self.means(image.bytes, width: image.width, height: image.height, lowerHalf: false)
    for definition in try Submission.photoDefinitions() {
      let outputs = try await onThread("make") {
        try Submission.photo("means of \(format)", { try TemporaryFile.make(photo) }, definition: definition).outputs()
      }
      // Squares show a part.
      for output in outputs where output.width * 2 == output.height * 3 {
        var expected = expected
        if output.type == "image/webp" {
          // libwebp's own program shifts blue by half a code.
          let (map, webp) = ("\(output.path).source.ppm", "\(output.path).source.webp")
          let header = Array("P6\n\(image.width) \(image.height)\n255\n".utf8)
          try Descriptor(writing: map, replacing: true).write(header + image.bytes)
          try await Self.run("cwebp", ["-quiet", "-q", "80", map, "-o", webp])
          try await Self.run("dwebp", ["-quiet", webp, "-ppm", "-o", map])
          expected = try Self.means(ofMap: map, lowerHalf: false)
        }
        Self.expectSame(try await Self.means(of: output, lowerHalf: false), expected, output.name)
      }
    }
  }

  /// A JPEG of one colour, and the program that says which.
  struct Samples: Sendable, CustomTestStringConvertible {
    let program: String
    let samples: [UInt8]
    let ids: [UInt8]
    var segments: [[UInt8]] = []

    var testDescription: String { "\(program), ids \(ids), \(segments.map { $0[1] })" }
  }

  // ffmpeg 5.1 knows inks by the ids of the components or by the segment; djpeg writes none as RGB.
  static let kinds = [
    Samples(program: "djpeg", samples: [180, 90, 160], ids: Array("RGB".utf8)),
    Samples(program: "djpeg", samples: [180, 90, 160], ids: [1, 2, 3]),
    Samples(program: "djpeg", samples: [180, 90, 160], ids: [1, 2, 3], segments: [PhotoFixture.jfif]),
    Samples(
      program: "djpeg", samples: [180, 90, 160], ids: [1, 2, 3], segments: [PhotoFixture.adobe(transform: 0)]),
    Samples(
      program: "djpeg", samples: [180, 90, 160], ids: Array("RGB".utf8), segments: [PhotoFixture.adobe(transform: 1)]),
    Samples(program: "ffmpeg", samples: [200, 60, 150, 240], ids: Array("CMYK".utf8)),
    Samples(
      program: "ffmpeg", samples: [200, 60, 150, 240], ids: [1, 2, 3, 4],
      segments: [PhotoFixture.adobe(transform: 0)]),
  ]

  @Test("samples of a JPEG are what other programs take them for", arguments: kinds)
  func spaces(example: Samples) async throws {
    let photo = try PhotoFixture.jpeg(
      samples: example.samples, ids: example.ids, segments: example.segments, width: 480, height: 320)
    let path = "\(OutputFolder.path)/samples.jpg"
    let map = "\(path).ppm"
    try Descriptor(writing: path, replacing: true).write(photo)
    try await Self.run(
      example.program,
      example.program == "djpeg"
        ? ["-outfile", map, path]
        : ["-nostdin", "-y", "-v", "error", "-i", path, "-frames:v", "1", "-update", "1", "-pix_fmt", "rgb24", map])
    let expected = try Self.means(ofMap: map, lowerHalf: false)
    let definition = try #require(try Submission.photoDefinitions().first)
    let outputs = try await onThread("make") {
      try Submission.photo("samples", { try TemporaryFile.make(photo) }, definition: definition).outputs()
    }
    for output in outputs where output.width * 2 == output.height * 3 && output.type == "image/jpeg" {
      Self.expectSame(try await Self.means(of: output, lowerHalf: false), expected, output.name, within: 2)
    }
  }
}
