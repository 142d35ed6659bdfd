import AV
import Kernels
import Model

/// Turns an input's frames into upright 8-bit 4:2:0 BT.709 pictures of one size, cropped to its shape.
///
/// It scales first and turns after, since there are fewer pixels then, and leaves out each step that has nothing to do:
/// reduce by a kernel of our own, scale, map colours, turn.
final class UprightConverter {
  /// Of the pictures it makes.
  let size: Size
  /// Whether it has nothing to do at all: the frame is the picture.
  let isIdentity: Bool
  /// What it does, for the decision log.
  let summary: String
  private let layout: FrameLayout
  private let crop: Rectangle
  private let reduction: Reduction
  /// The samples as `reduction` leaves them, where more is done to them.
  private let reduced: ImageBuffer?
  /// Nil where the samples already have size and colours.
  private let scaler: Scaler?
  /// The scaled samples in 10 bits, for `layout.colors`; nil where it takes the frame itself, or where there is none.
  private let deep: Frame?
  /// The picture before its turn; nil where it is upright, or only turned.
  private let unturned: ImageBuffer?

  /// What a kernel of our own does to the samples first.
  private enum Reduction: Equatable {
    case none
    /// The mean of four pixels; the scaler does the rest on a quarter of the samples.
    case half
    /// Two thirds, which is what is wanted.
    case twoThirds
    /// The mean of a square of so many pixels each way, which is what is wanted.
    case mean(Int)

    /// Whether nothing is left to scale.
    var isComplete: Bool { self != .none && self != .half }
  }

  init(from layout: FrameLayout, to size: Size) throws(Stop) {
    self.size = size
    self.layout = layout
    let turned = layout.orientation.size(width: size.width, height: size.height)
    let target = Size(width: turned.width, height: turned.height)
    crop = layout.crop(filling: target)
    let isScaled = crop.width != target.width || crop.height != target.height
    let isTurned = layout.orientation != .upright
    let isWhole = crop.width == layout.coded.width && crop.height == layout.coded.height
    isIdentity = !isScaled && !isTurned && isWhole && layout.hasOutputColors
    reduction = layout.hasOutputColors && isScaled ? Self.reduction(of: crop, to: target) : .none
    reduced = reduction == .half ? ImageBuffer(width: crop.width / 2, height: crop.height / 2) : nil

    let isDeep = layout.colors != nil
    let needsScaler =
      isDeep
      ? isScaled || layout.format != .yuv420p10 : !reduction.isComplete && (isScaled || !layout.hasOutputColors)
    let divisor = reduction == .half ? 2 : 1
    scaler = try needsScaler ? Self.scaler(layout, crop, divisor: divisor, target: target, isDeep: isDeep) : nil
    deep = try isDeep && needsScaler ? Self.frame(target) : nil
    let hasSteps = needsScaler || isDeep || reduction != .none
    unturned = isTurned && hasSteps ? ImageBuffer(width: target.width, height: target.height) : nil

    let cropped = isWhole ? "" : " cropped to \(crop.width)x\(crop.height)"
    let scaled = isScaled ? "scaled to \(size.width)x\(size.height), \(Self.name(of: reduction))" : "not scaled"
    summary = "\(layout.coded.width)x\(layout.coded.height)\(cropped), \(scaled)"
  }

  /// Draws a frame's upright picture.
  ///
  /// - Parameter target: of this converter's size, all of an aligned picture: vector loops write past a row's end.
  func draw(_ frame: borrowing Frame, into target: MutableImagePlanes) throws(Stop) {
    switch unturned {
    case .some(let unturned):
      try drawUnturned(frame, into: unturned.picture)
      target.copy(from: unturned.picture.reading, orientation: layout.orientation)
    case .none where scaler == nil && layout.colors == nil && reduction == .none:
      target.copy(from: samples(of: frame).reading, orientation: layout.orientation)
    case .none:
      try drawUnturned(frame, into: target)
    }
  }

  private func drawUnturned(_ frame: borrowing Frame, into target: MutableImagePlanes) throws(Stop) {
    if let colors = layout.colors {
      switch deep {
      case .some(let deep):
        try scale(frame.planes(of: (crop.x, crop.y)), into: deep.planes(of: (0, 0)))
        colors.map(deep.tenBitPlanes(of: (0, 0)), into: target)
      case .none: colors.map(frame.tenBitPlanes(of: (crop.x, crop.y)), into: target)
      }
      return
    }
    switch reduction {
    case .twoThirds: target.copy(twoThirdsOf: samples(of: frame).reading)
    case .mean(let side): target.copy(meansOf: samples(of: frame).reading, side: side)
    case .half:
      guard let reduced = reducedPicture else { return }
      reduced.copy(halving: samples(of: frame).reading)
      try scale(reduced.planes, into: target.planes)
    case .none: try scale(frame.planes(of: (crop.x, crop.y)), into: target.planes)
    }
  }

  private var reducedPicture: MutableImagePlanes? {
    switch reduced {
    case .some(let buffer): buffer.picture
    case .none: nil
    }
  }

  private func samples(of frame: borrowing Frame) -> MutableImagePlanes {
    frame.picture.region(x: crop.x, y: crop.y, width: crop.width, height: crop.height)
  }

  private func scale(_ source: Scaler.Planes, into target: Scaler.Planes) throws(Stop) {
    do { try scaler?.scale(source, to: target) } catch { throw Stop(error) }
  }

  /// Two thirds have a kernel that is as sharp as bicubic, and whole numbers from five on the mean. At two and a half times the target's size and beyond, the
  /// mean of four pixels is flat over all the frequencies that remain: it loses nothing that the target could show.
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
    _ layout: FrameLayout, _ crop: Rectangle, divisor: Int, target: Size, isDeep: Bool
  ) throws(Stop) -> Scaler {
    // Where a table maps the colours, the scaler leaves them as they are.
    let matrix = isDeep ? layout.matrix : .bt709
    let isFullRange = isDeep ? layout.isFullRange : false
    return try Stop.wrap { () throws(AVError) in
      try Scaler(
        from: Scaler.Side(
          width: crop.width / divisor, height: crop.height / divisor, format: layout.format, matrix: layout.matrix,
          isFullRange: layout.isFullRange),
        to: Scaler.Side(
          width: target.width, height: target.height, format: isDeep ? .yuv420p10 : .yuv420p, matrix: matrix,
          isFullRange: isFullRange))
    }
  }

  private static func frame(_ size: Size) throws(Stop) -> Frame {
    try Stop.wrap { () throws(AVError) in try Frame(width: size.width, height: size.height, format: .yuv420p10) }
  }
}
