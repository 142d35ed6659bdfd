import AV
import Kernels
import MediaFixtures
import Model
import Stills
import Testing

@testable import Media

@Suite("Colour", .tags(.media))
struct ColorTests {
  @Test("full range is converted to limited range, and the decisions name it", arguments: [true, false])
  func fullRange(onTop: Bool) throws {
    var clips = (front: MarkedClip(.red), back: MarkedClip(.blue))
    if onTop { clips.front.isFullRange = true } else { clips.back.isFullRange = true }
    let run = try MomentRun(front: clips.front.write(), back: clips.back.write())
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    #expect(run.report.verdict.decisions.filter { $0.subject == .color }.map(\.input) == [onTop ? .front : .back])
    let image = try StillImage(run.bytes(.image))
    #expect(image.color(atX: 0.5, y: 0.25) == .blue)
  }

  @Test("an untagged frame is BT.709 from 720 lines on, else BT.601")
  func guess() {
    let unknown = ColorDescription(range: "unknown", matrix: "unknown", primaries: "unknown", transfer: "unknown")
    #expect(ColorMatrix(unknown, height: 720) == .bt709)
    #expect(ColorMatrix(unknown, height: 576) == .bt601)
    #expect(ColorMatrix(.bt709, height: 100) == .bt709)
  }

  /// Colours as 10-bit codes of BT.2020 and as 8-bit ones of BT.709.
  ///
  /// Computed independently: codes to RGB (ITU-R BT.2020-2, table 4), to the power of 2.4 (BT.1886), by the
  /// chromaticities of both systems to light in BT.709, clipped to 0 and 1 (BT.2407-0, clause 2), to the power of 1 /
  /// 2.4, to codes (BT.709-6, items 3.2 to 3.5).
  static let colors: [(wide: [UInt16], expected: [Int])] = [
    ([940, 512, 512], [235, 128, 128]), ([502, 512, 512], [126, 128, 128]),
    ([692, 314, 524], [170, 56, 135]), ([650, 548, 409], [150, 145, 55]),
    ([618, 345, 416], [139, 72, 61]), ([409, 668, 659], [78, 184, 194]),
    ([367, 423, 678], [68, 112, 201]), ([237, 759, 524], [48, 201, 122]),
    ([648, 442, 595], [160, 109, 163]), ([339, 465, 582], [82, 116, 157]),
    ([448, 457, 455], [108, 113, 96]), ([370, 711, 511], [90, 184, 123]),
    ([728, 308, 396], [160, 57, 40]), ([439, 391, 727], [69, 104, 229]),
    ([261, 837, 533], [42, 229, 120]), ([237, 418, 848], [59, 104, 232]),
    ([509, 270, 203], [140, 60, 48]), ([103, 848, 485], [28, 216, 120]),
    ([531, 306, 310], [131, 65, 53]), ([267, 449, 736], [51, 109, 211]),
  ]

  @Test(
    "an SDR colour of BT.2020 becomes the same colour in BT.709, clipped to its gamut", arguments: colors)
  func gamut(wide: [UInt16], expected: [Int]) throws {
    let facts = VideoFacts(
      stream: 0, codec: "hevc", profile: nil, pixelFormat: "yuv420p10le", coded: Size(width: 16, height: 16),
      sampleAspectRatio: 1, transform: .identity, display: Size(width: 16, height: 16), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt2020nc", primaries: "bt2020", transfer: "bt2020-10"))
    let source = try Frame(width: 16, height: 16, format: .yuv420p10)
    for (index, value) in wide.enumerated() {
      guard let plane = source.plane(index) else { continue }
      let edge = index == 0 ? 16 : 8
      for row in 0..<edge {
        (plane.base + row * plane.stride).assumingMemoryBound(to: UInt16.self).update(repeating: value, count: edge)
      }
    }
    let target = ImageBuffer(width: 16, height: 16)
    try #require(FrameLayout(facts).colors).map(source.tenBitPlanes(from: (0, 0)), into: target.imagePlanes)
    let found = [target.imagePlanes.y[9, 6], target.imagePlanes.u[4, 3], target.imagePlanes.v[5, 2]].map { Int($0) }
    #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(wide) became \(found), not \(expected)")
  }

  /// Codes of BT.709 and their RGB, computed independently (ITU-R BT.709-6, items 3.2 to 3.5).
  @Test(
    "a JPEG still has the colours of its frame",
    arguments: [
      ([16, 128, 128], [0, 0, 0]), ([235, 128, 128], [255, 255, 255]), ([100, 90, 170], [173, 84, 18]),
      ([80, 170, 100], [24, 80, 163]), ([150, 100, 90], [88, 182, 97]), ([120, 120, 180], [214, 95, 104]),
    ] as [([UInt8], [Int])])
  func still(codes: [UInt8], expected: [Int]) throws {
    let size = Size(width: 34, height: 22)
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    frame.imagePlanes.fill(y: codes[0], u: codes[1], v: codes[2])
    let file = try TemporaryFile.make()
    let writer = try StillWriter(
      StillPlan(role: .poster, input: nil, at: 0, size: size, quality: 95), layout: FrameLayout(upright: size),
      file: file)
    try writer.write(frame)
    let image = try JPEGDecoder.decode(TemporaryFile.bytes(of: file), limits: JPEGLimits(pixels: 1 << 24))
    for pixel in [0, 371, 34 * 22 - 1] {
      let found = image.bytes[3 * pixel..<3 * pixel + 3].map { Int($0) }
      #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(codes) became \(found), not \(expected)")
    }
  }
}
