import AV
import Kernels
import Model

/// Converts an input's frames to upright 8-bit 4:2:0 BT.709 frames of one size, cropped to its aspect ratio.
///
/// The steps are: reduce by a kernel, scale, map colours, rotate. Unneeded steps are skipped. Rotation comes last, when
/// there are fewer pixels.
final class UprightConverter {
  /// The size of the converted frames.
  let size: Size
  /// Whether no step is needed.
  let isIdentity: Bool
  /// The steps, for the decision log.
  let summary: String
  /// Where the samples of the colour planes of the converted frames are.
  let chroma: ChromaPosition
  private let layout: FrameLayout
  private let crop: Rectangle
  private let reduction: Reduction
  /// The result of `reduction` if it is scaled further.
  private let reduced: ImageBuffer?
  /// Nil if neither size nor colour needs the scaler.
  private let scaler: Scaler?
  /// The scaled samples in 10 bits, the input of `layout.colors`; nil if the frame itself is the input, or without a
  /// table.
  private let deep: Frame?
  /// The frame before its rotation; nil if it is not rotated, or only rotated.
  private let unrotated: ImageBuffer?

  /// The reduction of the samples by a kernel, before the scaler.
  private enum Reduction: Equatable {
    case none
    /// The mean of four pixels; the scaler continues with a quarter of the samples.
    case half
    /// Two thirds, which is the target size.
    case twoThirds
    /// The mean of a square with this edge, which gives the target size.
    case mean(Int)

    /// Whether the result has the target size.
    var isComplete: Bool { self != .none && self != .half }
  }

  init(from layout: FrameLayout, to size: Size) throws(RunFailure) {
    self.size = size
    self.layout = layout
    let rotated = layout.orientation.size(width: size.width, height: size.height)
    let target = Size(width: rotated.width, height: rotated.height)
    crop = layout.crop(filling: target)
    let isScaled = crop.width != target.width || crop.height != target.height
    let isRotated = layout.orientation != .upright
    let isUncropped = crop.width == layout.coded.width && crop.height == layout.coded.height
    isIdentity = !isScaled && !isRotated && isUncropped && layout.hasOutputColors
    reduction = layout.hasOutputColors && isScaled ? Self.reduction(of: crop, to: target) : .none
    reduced = reduction == .half ? ImageBuffer(width: crop.width / 2, height: crop.height / 2) : nil

    let isDeep = layout.colors != nil
    let needsScaler =
      isDeep
      ? isScaled || layout.format != .yuv420p10 : !reduction.isComplete && (isScaled || !layout.hasOutputColors)
    let divisor = reduction == .half ? 2 : 1
    // A frame that keeps its size keeps its colour planes where they are: a shift would cost a filter.
    let reducedChroma = Self.chroma(after: reduction)
    let target420 = needsScaler && isScaled ? Self.chroma(turnedToLeft: layout.orientation) : reducedChroma
    chroma = target420.turned(
      quarterTurns: layout.orientation.quarterTurns, mirroring: layout.orientation.isMirrored)
    scaler =
      try needsScaler
      ? Self.scaler(
        layout, crop, divisor: divisor, chroma: reducedChroma, target: target, targetChroma: target420, isDeep: isDeep)
      : nil
    deep = try isDeep && needsScaler ? Self.frame(target) : nil
    let hasSteps = needsScaler || isDeep || reduction != .none
    unrotated = isRotated && hasSteps ? ImageBuffer(width: target.width, height: target.height) : nil

    let cropped = isUncropped ? "" : " cropped to \(crop.width)x\(crop.height)"
    let scaled = isScaled ? "scaled to \(size.width)x\(size.height), \(Self.name(of: reduction))" : "not scaled"
    summary = "\(layout.coded.width)x\(layout.coded.height)\(cropped), \(scaled)"
  }

  /// Converts a frame.
  ///
  /// - Parameter target: an entire aligned buffer of this converter's size, as vector loops write past the end of a
  ///   row.
  func draw(_ frame: borrowing Frame, into target: MutableImagePlanes) throws(RunFailure) {
    switch unrotated {
    case .some(let unrotated):
      try drawUnrotated(frame, into: unrotated.imagePlanes)
      target.copy(from: unrotated.imagePlanes.reading, orientation: layout.orientation)
    case .none where scaler == nil && layout.colors == nil && reduction == .none:
      target.copy(from: samples(of: frame).reading, orientation: layout.orientation)
    case .none:
      try drawUnrotated(frame, into: target)
    }
  }

  private func drawUnrotated(_ frame: borrowing Frame, into target: MutableImagePlanes) throws(RunFailure) {
    if let colors = layout.colors {
      switch deep {
      case .some(let deep):
        try scale(frame.planes(from: (crop.x, crop.y)), into: deep.planes(from: (0, 0)))
        colors.map(deep.tenBitPlanes(from: (0, 0)), into: target)
      case .none: colors.map(frame.tenBitPlanes(from: (crop.x, crop.y)), into: target)
      }
      return
    }
    switch reduction {
    case .twoThirds: target.copy(twoThirdsOf: samples(of: frame).reading)
    case .mean(let side): target.copy(meansOf: samples(of: frame).reading, side: side)
    case .half:
      guard let reduced = reducedPlanes else { return }
      reduced.copy(halving: samples(of: frame).reading)
      try scale(reduced.planes, into: target.planes)
    case .none: try scale(frame.planes(from: (crop.x, crop.y)), into: target.planes)
    }
  }

  private var reducedPlanes: MutableImagePlanes? {
    switch reduced {
    case .some(let buffer): buffer.imagePlanes
    case .none: nil
    }
  }

  private func samples(of frame: borrowing Frame) -> MutableImagePlanes {
    frame.imagePlanes.region(x: crop.x, y: crop.y, width: crop.width, height: crop.height)
  }

  private func scale(_ source: Scaler.Planes, into target: Scaler.Planes) throws(RunFailure) {
    do { try scaler?.scale(source, to: target) } catch { throw RunFailure(error) }
  }

  /// The kernel for a reduction, if one fits.
  ///
  /// Two thirds have a kernel as sharp as bicubic. Integer factors from 5 on take the mean. From a factor of 2.5 on,
  /// the mean of four pixels has a flat response over all frequencies that the target can represent, so halving loses
  /// no detail.
  private static func reduction(of crop: Rectangle, to target: Size) -> Reduction {
    let isEven = crop.width % 4 == 0 && crop.height % 4 == 0
    if crop.width * 2 == target.width * 3 && crop.height * 2 == target.height * 3 && target.width % 4 == 0
      && target.height % 4 == 0
    {
      return .twoThirds
    }
    let side = crop.width / target.width
    if side >= 5 && side <= 16 && crop.width == side * target.width && crop.height == side * target.height
      && target.width % 2 == 0 && target.height % 2 == 0
    {
      return .mean(side)
    }
    let isSmall = crop.width * 2 >= target.width * 5 && crop.height * 2 >= target.height * 5
    return isEven && isSmall ? .half : .none
  }

  private static func name(of reduction: Reduction) -> String {
    switch reduction {
    case .none: "bicubic"
    case .half: "halved, then bicubic"
    case .mean(let side): "the mean of \(side)x\(side)"
    case .twoThirds: "two thirds through four samples"
    }
  }

  private static func scaler(
    _ layout: FrameLayout, _ crop: Rectangle, divisor: Int, chroma: ChromaPosition, target: Size,
    targetChroma: ChromaPosition, isDeep: Bool
  ) throws(RunFailure) -> Scaler {
    // If a table maps the colours, the scaler does not convert them.
    let matrix = isDeep ? layout.matrix : .bt709
    let isFullRange = isDeep ? layout.isFullRange : false
    return try RunFailure.wrap { () throws(AVError) in
      try Scaler(
        from: Scaler.Side(
          width: crop.width / divisor, height: crop.height / divisor, format: layout.format, matrix: layout.matrix,
          isFullRange: layout.isFullRange, chroma: chroma),
        to: Scaler.Side(
          width: target.width, height: target.height, format: isDeep ? .yuv420p10 : .yuv420p, matrix: matrix,
          isFullRange: isFullRange, chroma: targetChroma))
    }
  }

  /// The position of the colour samples after a reduction, of a frame in which they are on the left.
  private static func chroma(after reduction: Reduction) -> ChromaPosition {
    switch reduction {
    case .none: .left
    case .half: ChromaPosition(x: 64, y: 128)
    // A sixth of a sample: the first of two samples is a quarter after the first of three.
    case .twoThirds: ChromaPosition(x: 43, y: 128)
    case .mean(let side): ChromaPosition(x: (side - 1) * 128 / side, y: 128)
    }
  }

  /// The position in a frame that has the samples on the left once it is turned.
  private static func chroma(turnedToLeft orientation: Orientation) -> ChromaPosition {
    let back = orientation.inverse
    return ChromaPosition.left.turned(quarterTurns: back.quarterTurns, mirroring: back.isMirrored)
  }

  private static func frame(_ size: Size) throws(RunFailure) -> Frame {
    try RunFailure.wrap { () throws(AVError) in try Frame(width: size.width, height: size.height, format: .yuv420p10) }
  }
}
