import Definitions
import Media
import MediaFixtures
import Model
import Platform
import Stills

/// A run for one photo, with its report and outputs.
struct PhotoCase {
  let report: PhotoReport
  private let files: [Role: OpenFile]

  static func limits(pixels: Int = 1 << 24) -> PhotoLimits {
    PhotoLimits(bytes: 1 << 24, pixels: pixels, progressivePixels: pixels, formats: PhotoFormat.usual)
  }

  init(
    _ bytes: [UInt8], variants: [Role: PhotoVariant] = [.photoLarge: PhotoVariant(longEdge: 2048, quality: 95)],
    preview: PhotoPreview? = nil, limits: PhotoLimits = limits()
  ) throws {
    let plan = PhotoPlan(limits: limits, variants: variants, preview: preview)
    files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    report = try PhotoRunner(plan).run(try TemporaryFile.make(bytes), outputs: files)
  }

  func bytes(_ role: Role) throws -> [UInt8] {
    guard let file = files[role] else { return [] }
    return try TemporaryFile.bytes(of: file)
  }

  /// A JPEG output, decoded.
  func decodedImage(_ role: Role = .photoLarge) throws -> RGBImage {
    try JPEGDecoder.decode(try bytes(role), limits: JPEGLimits(pixels: 1 << 24))
  }
}

extension RGBImage {
  /// The colour of a pixel.
  func pixel(_ x: Int, _ y: Int) -> SIMD3<Int> {
    let offset = 3 * (y * width + x)
    return SIMD3(Int(bytes[offset]), Int(bytes[offset + 1]), Int(bytes[offset + 2]))
  }

  /// The colours at the centres of the four quarters, row by row.
  var quarters: [SIMD3<Int>] {
    [(1, 1), (3, 1), (1, 3), (3, 3)].map { pixel($0.0 * width / 4, $0.1 * height / 4) }
  }
}

/// The largest difference between two colours in one component.
func distance(_ one: SIMD3<Int>, _ other: SIMD3<Int>) -> Int {
  (0..<3).map { abs(one[$0] - other[$0]) }.max() ?? 0
}
