import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 inspect", .tags(.process))
struct InspectTests {
  /// The fields of a result that tests read.
  struct Output: Decodable, Sendable {
    struct Audio: Decodable { let codec: String }
    struct Color: Decodable {
      let hdr: String?
      let profile: String?
    }

    let file: String
    let verdict: String
    let reasons: [Reason]
    let warnings: [Warning]
    let display: Size?
    let transform: Transform?
    let duration: Double?
    let frames: Int?
    let audio: Audio?
    let color: Color?
    let identifying: [IdentifyingMetadata]
  }

  static func path(_ name: String) -> String { "\(Document.root)/\(name)" }

  static func inspect(_ paths: [String]) async throws -> (outputs: [Output], status: Int32?) {
    let command = try await Take5Command.run(["inspect", "--json"] + paths)
    let lines = command.output.split(separator: "\n")
    return (try lines.map { try JSON.decode(Output.self, from: Array($0.utf8)) }, command.status)
  }

  @Test("prints one line per file, in order, also for invalid and missing files")
  func order() async throws {
    let paths = [Self.path("samples/front.mp4"), "/nowhere.mp4", Self.path("README.md")]
    let (outputs, status) = try await Self.inspect(paths)
    #expect(status == 65)
    #expect(outputs.map(\.file) == paths)
    #expect(outputs.map(\.verdict) == ["accepted", "unreadable", "rejected"])
    #expect(outputs[0].display == Size(width: 1080, height: 1920))
    #expect(outputs[0].transform == Transform(rotation: .quarter, mirrored: false))
    #expect(outputs[0].frames == 150)
    #expect(outputs[2].reasons.map(\.code) == [.unsupportedContainer])
    #expect(try await Self.inspect(["/nowhere.mp4"]).status == 66)
    #expect(try await Self.inspect([paths[0]]).status == 0)
  }

  @Test("reports the format of an unsupported file and suggests another, whatever its name")
  func formats() async throws {
    let folder = try TemporaryFolder()
    let files: [(content: [UInt8], code: ReasonCode, contains: [String])] = [
      (Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], .unsupportedContainer, ["a GIF image", "as JPEG"]),
      (
        Array("<?xml version=\"1.0\"?>\n<!-- a logo -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n".utf8),
        .unsupportedContainer, ["an SVG drawing", "as JPEG"]
      ),
      (Array("BM".utf8) + [UInt8](repeating: 0, count: 60), .unsupportedContainer, ["a BMP image", "as JPEG"]),
      (Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0], .unsupportedContainer, ["a TIFF image", "as JPEG"]),
      ([0xFF, 0x0A, 0xFA, 0x7F, 0x01, 0x90, 0x08, 0x06], .unsupportedContainer, ["a JPEG XL image", "as JPEG"]),
    ]
    let others: [(content: [UInt8], code: ReasonCode, contains: [String])] = [
      (Array("a diary".utf8), .unsupportedContainer, ["a text file", "MP4", "HEIF"]),
      ([], .emptyFile, ["photo", "clip"]),
    ]
    let paths = try (files + others).enumerated().map { index, file in
      let path = "\(folder.path)/\(index).mp4"
      try Descriptor(writing: path, replacing: true).write(file.content)
      return path
    }
    let (outputs, _) = try await Self.inspect(paths)
    for (output, file) in zip(outputs, files + others) {
      let reason = try #require(output.reasons.first)
      #expect(reason.code == file.code)
      for text in file.contains { #expect(reason.detail.contains(text), "\(reason.detail)") }
    }
    for output in outputs.prefix(files.count) {
      #expect(output.reasons.first?.detail.contains("MP4") == false, "\(output.reasons)")
    }
  }

  /// The expected result for a file of the field media: the facts of a valid file, or the codes of a rejected one.
  enum Expected: Sendable {
    case clip(Int, Int, Transform.Rotation, frames: Int, hdr: String? = nil, hasLocation: Bool = false)
    case photo(
      Int, Int, Transform.Rotation = .none, mirrored: Bool = false, hdr: String? = nil, hasLocation: Bool = false,
      profile: String? = nil)
    case rejected(Set<ReasonCode>)
  }

  static let field: [String: Expected] = [
    "videos/h264-1080p25-5s-full-range.mp4": .clip(1920, 1080, .none, frames: 125),
    "videos/h264-5s-no-audio.mp4": .clip(640, 480, .none, frames: 44),
    "videos/h264-5s-sar-3x2.mp4": .clip(1920, 1080, .none, frames: 46),
    "videos/h264-edit-list-9s.mp4": .clip(853, 480, .none, frames: 225),
    "videos/h264-extreme-vfr-3026x1386.mp4": .clip(3026, 1386, .none, frames: 63),
    "videos/h264-fragmented-rot90-5.1-audio.mp4": .clip(1080, 1920, .quarter, frames: 45),
    "videos/h264-rot90-5s-low-fps.mp4": .clip(480, 640, .quarter, frames: 44),
    "videos/hevc-1080p30-10s-full-range.mp4": .clip(1920, 1080, .none, frames: 300),
    "videos/iphone14pro-hevc-main10-hlg-rot90.mov": .clip(
      1080, 1920, .quarter, frames: 40, hdr: "hlg", hasLocation: true),
    "videos/iphone4s-h264-rot90-vfr-568x320.mov": .clip(320, 568, .quarter, frames: 62, hasLocation: true),
    "videos/iphone4s-h264-rot90-vfr.mov": .clip(480, 640, .quarter, frames: 25, hasLocation: true),
    "videos/iphone6s-h264-rot90-short-mebx.mov": .clip(720, 1280, .quarter, frames: 14, hasLocation: true),
    "videos/mv-hevc-stereo-160x120.mp4": .clip(160, 120, .none, frames: 10),
    "videos/phone-h263-amr-15s.3gp": .rejected([.unsupportedCodec]),
    "videos/phone-h264-rot180-90k-timescale.mp4": .clip(1280, 720, .half, frames: 25, hasLocation: true),
    "videos/two-video-two-audio-subtitles.mp4": .clip(320, 180, .none, frames: 325),
    "videos/vp9-opus-5s.webm": .rejected([.unsupportedContainer]),
    "hostile/mp4-1x1-yuv444-5s.mp4": .rejected([.unsupportedCodec]),
    "hostile/mp4-audio-only.mp4": .rejected([.noVideoStream]),
    "hostile/mp4-chunk-table-out-of-range.mp4": .rejected([.unsupportedContainer, .truncatedContainer, .corruptVideo]),
    "hostile/mp4-fragment-timeline-starts-at-65min.mp4": .clip(640, 360, .none, frames: 240),
    "hostile/mp4-missing-mdat-partial.mp4": .rejected([.truncatedContainer, .corruptVideo]),
    "hostile/mp4-no-moov.mp4": .rejected([.truncatedContainer]),
    "hostile/mp4-no-mvhd-bad-matrix.mp4": .rejected([.corruptVideo]),
    "hostile/mp4-vvc-unsupported-codec.mp4": .rejected([.unsupportedCodec]),
    "hostile/gif-decompression-bomb.gif": .rejected([.unsupportedContainer]),
    "hostile/heic-inconsistent-item-ids.heic": .photo(1197, 1227),
    "hostile/heic-truncated.heic": .rejected([.truncatedContainer]),
    "hostile/jpeg-280-megapixel-grey.jpg": .rejected([.tooLarge]),
    "hostile/jpeg-corrupt-header.jpg": .rejected([.truncatedContainer, .corruptImage]),
    "hostile/jpeg-truncated.jpg": .rejected([.truncatedContainer]),
    "hostile/png-65536x65536-bomb.png": .rejected([.tooLarge]),
    "hostile/png-text-chunk-inflate-bomb.png": .photo(1, 1),
    "hostile/samsung-200-megapixel.heic": .rejected([.tooLarge]),
    "photos/apng-ball.png": .photo(100, 100),
    "photos/avif-10bit-p3-hdr.avif": .photo(3681, 5594, hdr: "pq", profile: "Display P3"),
    "photos/heic-tmap-24mp.heic": .photo(5712, 4284, hasLocation: true, profile: "Display P3"),
    "photos/heif-10bit-odd-29x100.heif": .photo(29, 100),
    "photos/iphone13pro-portrait-depth-gps.heic": .photo(4032, 3024, hasLocation: true, profile: "Display P3"),
    "photos/iphone7-p3-grid-gps.heic": .photo(4032, 3024, hasLocation: true, profile: "Display P3"),
    "photos/jpeg-12bit.jpg": .rejected([.unsupportedCodec]),
    // Its orientation is only in XMP, which browsers ignore; the image is upright.
    "photos/jpeg-12mp-display-p3-orientation-3.jpg": .photo(4032, 3024, profile: "Display P3"),
    "photos/jpeg-440-non-interleaved-64x64.jpg": .photo(64, 64),
    "photos/jpeg-arithmetic-coded.jpg": .photo(227, 149),
    "photos/jpeg-cmyk-swop-icc.jpg": .photo(500, 333, profile: "U.S. Web Coated (SWOP) v2"),
    "photos/jpeg-exif-orientation-5.jpg": .photo(
      600, 450, .threeQuarters, mirrored: true, profile: "Generic RGB Profile"),
    "photos/jpeg-exif-orientation-6.jpg": .photo(450, 600, .quarter, profile: "Generic RGB Profile"),
    "photos/jpeg-gps-exif.jpg": .photo(640, 480, hasLocation: true),
    "photos/jpeg-grey-progressive.jpg": .photo(900, 675),
    "photos/jpeg-ultrahdr-gain-map-4k.jpg": .photo(3840, 2160, profile: "sRGB Gamut with sRGB Transfer"),
    "photos/png-16bit-grey-alpha.png": .photo(109, 96, profile: "Greyscale D50"),
    "photos/samsung-motion-photo-irot270.heic": .photo(3000, 4000, .quarter),
    "photos/webp-animated.webp": .photo(370, 285),
    "photos/webp-lossless.webp": .photo(300, 300),
  ]

  static let folder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  @Test(
    "each field file has the expected result",
    .enabled(if: folder != nil, "TAKE5_FIELD_MEDIA is not set"))
  func fieldMedia() async throws {
    let folder = try #require(Self.folder)
    var paths: [String] = []
    for part in ["videos", "hostile", "photos"] {
      paths += try Folders.files(below: "\(folder)/\(part)").map { String($0.dropFirst(folder.utf8.count + 1)) }
        .sorted()
    }
    #expect(Set(paths) == Set(Self.field.keys), "the table and the folder have different files")
    let (outputs, status) = try await Self.inspect(paths.map { "\(folder)/\($0)" })
    #expect(status == 65)
    #expect(outputs.count == paths.count)
    for (path, output) in zip(paths, outputs) {
      switch try #require(Self.field[path]) {
      case .clip(let width, let height, let rotation, let frames, let hdr, let hasLocation):
        #expect(output.verdict == "accepted", "\(path): \(output.reasons)")
        #expect(output.display == Size(width: width, height: height), "\(path)")
        #expect(output.transform == Transform(rotation: rotation, mirrored: false), "\(path)")
        #expect(output.frames == frames, "\(path)")
        #expect(output.color?.hdr == hdr, "\(path)")
        #expect(output.identifying.contains { $0.kind == .place } == hasLocation, "\(path)")
      case .photo(let width, let height, let rotation, let mirrored, let hdr, let hasLocation, let profile):
        #expect(output.verdict == "accepted", "\(path): \(output.reasons)")
        #expect(output.display == Size(width: width, height: height), "\(path)")
        #expect(output.transform == Transform(rotation: rotation, mirrored: mirrored), "\(path)")
        #expect(output.color?.hdr == hdr && output.color?.profile == profile, "\(path)")
        #expect(output.identifying.contains { $0.kind == .place } == hasLocation, "\(path)")
      case .rejected(let codes):
        #expect(output.verdict == "rejected", "\(path)")
        #expect(
          !output.reasons.isEmpty && codes.isSuperset(of: output.reasons.map(\.code)), "\(path): \(output.reasons)")
      }
    }
  }

  @Test("outputs are the same with --portable and --latency")
  func sameBytes() async throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.path
    let clips = [Self.path("samples/front.mp4"), Self.path("samples/back.mp4")]
    let runs = ["plain": [], "portable": ["--portable"], "latency": ["--latency"]]
    for (name, options) in runs {
      let run = try await Take5Command.run(
        ["compose"] + clips + ["--both", "--outputs", "\(folder)/\(name)"] + options)
      #expect(run.status == 0)
    }
    let names = try Folders.files(below: "\(folder)/plain").map { String($0.split(separator: "/").last ?? "") }
    #expect(names.count == 9)
    for name in names {
      let plain = try Descriptor(reading: "\(folder)/plain/\(name)").contents()
      for other in ["portable", "latency"] {
        #expect(try Descriptor(reading: "\(folder)/\(other)/\(name)").contents() == plain, "\(name), \(other)")
      }
    }
  }
}
