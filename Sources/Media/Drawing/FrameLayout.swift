import AV
import Kernels
import Model

/// The memory layout, colour and orientation of an input's frames.
struct FrameLayout: Hashable, Sendable {
  /// The coded size in samples.
  var coded: Size
  /// The rectangle that is shown.
  var aperture: Rectangle
  var format: PixelFormat
  var matrix: ColorMatrix
  var isFullRange: Bool
  /// Maps colours that need more than another matrix and range: HDR and wide gamuts.
  var colors: ColorTable?
  /// The rendering that `colors` performs.
  private var rendering: ColorRendering?
  /// The width of a sample divided by its height.
  var sampleAspectRatio: Double
  /// The transform that makes a coded frame upright.
  var orientation: Orientation

  /// The layout of an input's frames by its facts; the decoder checks each frame against the facts.
  init(_ facts: VideoFacts) {
    coded = facts.coded
    aperture = facts.cleanAperture ?? Rectangle(x: 0, y: 0, width: coded.width, height: coded.height)
    format = PixelFormat(named: facts.pixelFormat)
    let color = ColorDescription(
      range: facts.color.range, matrix: facts.color.matrix, primaries: facts.color.primaries,
      transfer: facts.color.transfer)
    // Where the matrix is not tagged, players guess it from the number of lines, here the length of the short edge.
    matrix = ColorMatrix(color, height: min(coded.width, coded.height))
    // The deprecated yuvj formats imply full range.
    isFullRange = color.isFullRange || format == .yuvj420p
    rendering = ColorRendering(facts, matrix: matrix, isFullRange: isFullRange)
    colors = rendering?.table()
    sampleAspectRatio = facts.sampleAspectRatio
    orientation = Orientation(
      quarterTurns: facts.transform.rotation.rawValue / 90, mirroring: facts.transform.mirrored)
  }

  /// The layout of output frames: upright, 8-bit 4:2:0, BT.709, limited range, square samples.
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

  /// Whether format and colour equal the outputs'.
  var hasOutputColors: Bool { format == .yuv420p && matrix == .bt709 && !isFullRange && colors == nil }

  /// The colour conversion, for the decision log; nil if format and colour equal the outputs'.
  func colorDecision(of input: InputName, facts: VideoFacts) -> Decision? {
    guard !hasOutputColors else { return nil }
    let color = facts.color
    let found = "\(format), range \(color.range), matrix \(color.matrix), transfer \(color.transfer)"
    let method = rendering.map { ", \($0.summary)" } ?? ""
    return Decision(
      .color, input: input, choice: "converted to 8-bit BT.709 in limited range\(method)",
      reason: "its frames are \(found), read as \(matrix) in \(isFullRange ? "full" : "limited") range")
  }

  /// The centred part of the aperture, in coded samples, that fills a target of square pixels; even position and size.
  func crop(filling target: Size) -> Rectangle {
    let ratio = Double(target.width) / Double(target.height) / sampleAspectRatio
    let width = min(Double(aperture.width), Double(aperture.height) * ratio)
    let height = min(Double(aperture.height), Double(aperture.width) / ratio)
    let size = Size(
      width: min(Size.even(width), aperture.width / 2 * 2), height: min(Size.even(height), aperture.height / 2 * 2))
    return Rectangle(
      x: (aperture.x + (aperture.width - size.width) / 2) / 2 * 2,
      y: (aperture.y + (aperture.height - size.height) / 2) / 2 * 2, width: size.width, height: size.height)
  }
}

/// The form into which an input's frames are converted for a composition: upright, of one size, in the outputs'
/// colours.
struct Preparation: Hashable, Sendable {
  let layout: FrameLayout
  let size: Size
}
