import AV
import Kernels
import Model

/// How an input's pictures lie in memory, what their numbers mean, and which way up they are.
struct FrameLayout: Hashable, Sendable {
  /// In samples, as coded.
  var coded: Size
  /// The part of it that is meant to be shown.
  var aperture: Rectangle
  var format: PixelFormat
  var matrix: ColorMatrix
  var isFullRange: Bool
  /// What shows its colours where it takes more than another matrix and range: HDR, and wide gamuts.
  var colors: ColorTable?
  /// What `colors` does, for the decision log.
  private var rendering: ColorRendering?
  /// The width of a sample divided by its height.
  var sampleAspectRatio: Double
  /// What makes a coded picture upright.
  var orientation: Orientation

  /// Of an input's pictures, as its facts say; the reader checks each picture against them.
  init(_ facts: VideoFacts) {
    coded = facts.coded
    aperture = facts.cleanAperture ?? Rectangle(x: 0, y: 0, width: coded.width, height: coded.height)
    format = PixelFormat(named: facts.pixelFormat)
    let color = ColorDescription(
      range: facts.color.range, matrix: facts.color.matrix, primaries: facts.color.primaries,
      transfer: facts.color.transfer)
    // The number of lines by which players guess is that of the upright short edge.
    matrix = ColorMatrix(color, height: min(coded.width, coded.height))
    // The old full-range formats say it by their name.
    isFullRange = color.isFullRange || format == .yuvj420p
    rendering = ColorRendering(facts, matrix: matrix, isFullRange: isFullRange)
    colors = rendering?.table()
    sampleAspectRatio = facts.sampleAspectRatio
    orientation = Orientation(
      quarterTurns: facts.transform.rotation.rawValue / 90, mirroring: facts.transform.mirrored)
  }

  /// Of an upright picture of ours: 8-bit 4:2:0, BT.709, limited range, square samples.
  init(upright size: Size) {
    coded = size
    aperture = Rectangle(x: 0, y: 0, width: size.width, height: size.height)
    format = .yuv420p
    matrix = .bt709
    isFullRange = false
    colors = nil
    rendering = nil
    sampleAspectRatio = 1
    orientation = .upright
  }

  /// Whether its numbers are those that our outputs have.
  var hasOutputColors: Bool { format == .yuv420p && matrix == .bt709 && !isFullRange && colors == nil }

  /// What is done to its colours where they are not those of our outputs, for the decision log.
  func colorDecision(of input: InputName, facts: VideoFacts) -> Decision? {
    guard !hasOutputColors else { return nil }
    let color = facts.color
    let found = "\(format), range \(color.range), matrix \(color.matrix), transfer \(color.transfer)"
    let how = rendering.map { ", \($0.summary)" } ?? ""
    return Decision(
      .color, input: input, choice: "converted to 8-bit BT.709 in limited range\(how)",
      reason: "its pictures are \(found), read as \(matrix) in \(isFullRange ? "full" : "limited") range")
  }

  /// The rectangle of coded samples that fills a rectangle of square pixels of another shape, in the middle of what is
  /// meant to be shown; even throughout.
  func crop(filling target: Size) -> Rectangle {
    let wanted = Double(target.width) / Double(target.height) / sampleAspectRatio
    let width = min(Double(aperture.width), Double(aperture.height) * wanted)
    let height = min(Double(aperture.height), Double(aperture.width) / wanted)
    let size = Size(
      width: min(Size.even(width), aperture.width / 2 * 2), height: min(Size.even(height), aperture.height / 2 * 2))
    return Rectangle(
      x: (aperture.x + (aperture.width - size.width) / 2) / 2 * 2,
      y: (aperture.y + (aperture.height - size.height) / 2) / 2 * 2, width: size.width, height: size.height)
  }
}
