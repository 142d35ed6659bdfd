import Definitions
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Stills
import Take5Testing
import Testing

@Suite("take5 photo", .tags(.process))
struct PhotoCommandTests {
  /// The fields of a result that tests read.
  struct Result: Decodable {
    struct Output: Decodable {
      let path: String
      let width: Int
      let height: Int
      let bytes: Int
    }

    let file: String
    let verdict: String
    let reasons: [Reason]
    let thumbhash: String?
    let dominantColor: String?
    let outputs: [Role: Output]
  }

  let folder: TemporaryFolder
  let photo: String

  init() throws {
    folder = try TemporaryFolder()
    photo = "\(folder.path)/IMG_1.weird.name"
    let bytes = try PhotoFixture.jpeg(
      PhotoFixture.quarters(width: 400, height: 300), exif: PhotoFixture.exif(orientation: 6, hasPosition: true))
    try Descriptor(writing: photo, replacing: true).write(bytes)
  }

  private func results(_ arguments: [String]) async throws -> (results: [Result], status: Int32?) {
    let run = try await Take5Command.run(["photo"] + arguments + ["--json"])
    let lines = run.output.split(separator: "\n")
    return (try lines.map { try JSON.decode(Result.self, from: Array($0.utf8)) }, run.status)
  }

  @Test("invalid and missing files do not prevent the variants of others, and set the status")
  func several() async throws {
    let bad = "\(folder.path)/bad.jpg"
    try Descriptor(writing: bad, replacing: true).write(Array("GIF89a, renamed".utf8))
    let out = "\(folder.path)/out"
    let (results, status) = try await results([bad, photo, "\(folder.path)/none.jpg", "-o", out])
    #expect(status == 65)
    #expect(results.map(\.verdict) == ["rejected", "accepted", "failed"])
    #expect(results[0].reasons.map(\.code) == [.unsupportedContainer])
    let outputs = results[1].outputs.mapValues { "\($0.width)x\($0.height)" }
    #expect(
      outputs == [
        .photoLarge: "300x400", .photoMedium: "300x400", .photoSmall: "240x320", .photoSquare: "150x150",
      ])
    #expect(results[1].thumbhash != nil && results[1].dominantColor?.hasPrefix("#") == true)
    #expect(
      try Folders.files(below: out).sorted()
        == ["large", "medium", "small", "square"].map { "\(out)/IMG_1.weird.\($0).jpg" })
  }

  @Test("existing files are replaced only with --force")
  func force() async throws {
    let out = "\(folder.path)/out"
    #expect(try await results([photo, "-o", out]).status == 0)
    let path = "\(out)/IMG_1.weird.large.jpg"
    try Descriptor(writing: path, replacing: true).write([1, 2, 3])
    #expect(try await results([photo, "-o", out]).status == 74)
    #expect(try Descriptor(reading: path).contents() == [1, 2, 3])
    #expect(try Folders.files(below: out).count == 4)
    #expect(try await results([photo, "-o", out, "--force"]).status == 0)
    #expect(try Descriptor(reading: path).contents().count > 1000)
  }

  @Test("definitions have names, which the error for an unknown name lists")
  func definitions() async throws {
    let out = "\(folder.path)/out"
    let (results, status) = try await results([photo, "-o", out, "--definition", "profile-image"])
    #expect(status == 0)
    #expect(results.first?.outputs[.avatar]?.width == 300)
    #expect(results.first?.outputs[.avatarSmall]?.width == 150)
    let unknown = try await Take5Command.run(["photo", photo, "-o", out, "--definition", "unknown"])
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("profile-image"))
  }

  /// The mean colours of nine equal parts, row by row, as Pillow 13 with LittleCMS computes them; for HEIC with libheif
  /// 1.23, which knows gain maps.
  static let references: [String: [[Int]]] = [
    "apng-ball.png": [
      [255, 255, 255], [252, 252, 254], [255, 255, 255], [252, 252, 253], [123, 135, 103], [247, 247, 249],
      [255, 255, 255], [225, 228, 228], [255, 255, 255],
    ],
    "heic-tmap-24mp.heic": [
      [141, 123, 101], [145, 132, 112], [145, 138, 130], [144, 132, 117], [48, 45, 40], [125, 114, 99], [117, 78, 47],
      [118, 84, 52], [131, 92, 57],
    ],
    "iphone7-p3-grid-gps.heic": [
      [114, 129, 142], [69, 85, 100], [78, 97, 113], [60, 78, 84], [56, 70, 73], [45, 61, 67], [89, 93, 82],
      [80, 80, 72], [62, 75, 79],
    ],
    "jpeg-12mp-display-p3-orientation-3.jpg": [
      [112, 93, 81], [153, 144, 138], [149, 150, 151], [91, 75, 62], [138, 125, 112], [147, 136, 109], [153, 150, 150],
      [181, 164, 152], [141, 115, 42],
    ],
    "jpeg-440-non-interleaved-64x64.jpg": [
      [215, 0, 41], [215, 0, 41], [215, 0, 41], [130, 0, 126], [130, 0, 126], [130, 0, 126], [42, 1, 212],
      [42, 1, 212], [42, 1, 212],
    ],
    "jpeg-arithmetic-coded.jpg": [
      [72, 64, 65], [166, 62, 52], [153, 113, 111], [143, 93, 101], [221, 58, 54], [164, 112, 86], [154, 137, 126],
      [163, 92, 82], [79, 82, 58],
    ],
    "jpeg-cmyk-swop-icc.jpg": [
      [114, 114, 112], [117, 118, 116], [114, 117, 116], [106, 118, 89], [110, 118, 101], [114, 121, 107],
      [118, 130, 99], [124, 131, 127], [170, 170, 171],
    ],
    "jpeg-exif-orientation-5.jpg": [
      [94, 99, 78], [178, 179, 177], [134, 138, 109], [74, 66, 52], [110, 109, 113], [72, 69, 48], [65, 51, 35],
      [101, 98, 103], [46, 44, 31],
    ],
    "jpeg-exif-orientation-6.jpg": [
      [100, 105, 83], [175, 177, 167], [127, 133, 118], [74, 78, 70], [138, 139, 147], [62, 62, 52], [112, 117, 65],
      [133, 136, 90], [116, 114, 75],
    ],
    "jpeg-gps-exif.jpg": [
      [187, 174, 114], [182, 174, 98], [163, 149, 80], [142, 126, 74], [162, 134, 81], [150, 122, 71], [126, 109, 57],
      [130, 102, 56], [131, 105, 65],
    ],
    "jpeg-grey-progressive.jpg": [
      [240, 240, 240], [246, 246, 246], [240, 240, 240], [162, 162, 162], [165, 165, 165], [150, 150, 150],
      [69, 69, 69], [78, 78, 78], [100, 100, 100],
    ],
    "samsung-motion-photo-irot270.heic": [
      [99, 95, 93], [111, 106, 106], [102, 93, 89], [108, 106, 108], [145, 143, 145], [104, 99, 99], [73, 71, 69],
      [82, 78, 79], [77, 70, 68],
    ],
    "png-16bit-grey-alpha.png": [
      [249, 249, 249], [247, 247, 247], [249, 249, 249], [247, 247, 247], [247, 247, 247], [247, 247, 247],
      [248, 248, 248], [248, 248, 248], [248, 248, 248],
    ],
    "webp-animated.webp": [
      [255, 255, 253], [255, 255, 253], [255, 255, 253], [255, 255, 253], [255, 255, 253], [255, 255, 253],
      [251, 251, 249], [253, 253, 251], [252, 252, 250],
    ],
  ]

  static let media = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  @Test(
    "the colours of field photos equal Pillow's", .enabled(if: media != nil, "TAKE5_FIELD_MEDIA is not set"))
  func references() async throws {
    let media = try #require(Self.media)
    let names = Self.references.keys.sorted()
    let (results, status) = try await results(names.map { "\(media)/photos/\($0)" } + ["-o", "\(folder.path)/out"])
    #expect(status == 0)
    for (name, result) in zip(names, results) {
      let output = try #require(result.outputs[.photoLarge])
      let image = try JPEGDecoder.decode(
        try Descriptor(reading: output.path).contents(), limits: JPEGLimits(pixels: 1 << 24))
      for (part, expected) in try #require(Self.references[name]).enumerated() {
        let mean = Self.mean(image, column: part % 3, row: part / 3)
        for component in 0..<3 { #expect(abs(mean[component] - expected[component]) <= 3, "\(name), part \(part)") }
      }
    }
  }

  private static func mean(_ image: RGBImage, column: Int, row: Int) -> [Int] {
    var sums = [0, 0, 0]
    var count = 0
    for y in row * image.height / 3..<(row + 1) * image.height / 3 {
      for x in column * image.width / 3..<(column + 1) * image.width / 3 {
        for component in 0..<3 { sums[component] += Int(image.bytes[3 * (y * image.width + x) + component]) }
        count += 1
      }
    }
    return sums.map { $0 / max(1, count) }
  }
}
