import AV
import Kernels
import Model

/// Turns an input's frames into upright 8-bit 4:2:0 BT.709 pictures of one size, cropped to its shape.
///
/// It scales first and turns after, since there are fewer pixels then, and leaves out each step that has nothing to do.
final class UprightConverter {
  /// Of the pictures it makes.
  let size: Size
  /// Whether it has nothing to do at all: the frame is the picture.
  let isIdentity: Bool
  private let layout: PictureLayout
  private let crop: Rectangle
  /// Nil where the cropped samples already have size and colours.
  private let scaler: Scaler?
  /// The samples at half their size, from which the scaler starts; nil where that would cost sharpness.
  private let halved: MutablePicture?
  private let halvedMemory: PictureBuffer?
  /// The scaled picture before its turn; nil where either step has nothing to do.
  private let unturned: MutablePicture?
  private let unturnedMemory: PictureBuffer?
  /// What it did, for the decision log.
  let summary: String

  init(from layout: PictureLayout, to size: Size) throws(Stop) {
    self.size = size
    self.layout = layout
    let turned = layout.orientation.size(width: size.width, height: size.height)
    let target = Size(width: turned.width, height: turned.height)
    crop = layout.crop(filling: target)
    let isScaled = crop.width != target.width || crop.height != target.height
    let isTurned = layout.orientation != .upright
    let isWhole = crop.width == layout.coded.width && crop.height == layout.coded.height
    isIdentity = !isScaled && !isTurned && isWhole && layout.hasOutputColors
    let halves = layout.hasOutputColors && Self.halves(crop, for: target)
    if halves {
      let memory = PictureBuffer(width: crop.width / 2, height: crop.height / 2)
      halved = memory.picture
      halvedMemory = consume memory
    } else {
      halved = nil
      halvedMemory = nil
    }
    if isScaled || !layout.hasOutputColors {
      let divisor = halves ? 2 : 1
      let side = Scaler.Side(
        width: crop.width / divisor, height: crop.height / divisor, format: layout.format, matrix: layout.matrix,
        isFullRange: layout.isFullRange)
      scaler = try Stop.wrap { () throws(AVError) in
        try Scaler(
          from: side,
          to: Scaler.Side(
            width: target.width, height: target.height, format: .yuv420p, matrix: .bt709, isFullRange: false))
      }
      if isTurned {
        let memory = PictureBuffer(width: target.width, height: target.height)
        unturned = memory.picture
        unturnedMemory = consume memory
      } else {
        unturned = nil
        unturnedMemory = nil
      }
    } else {
      scaler = nil
      unturned = nil
      unturnedMemory = nil
    }
    let cropped = isWhole ? "" : " cropped to \(crop.width)x\(crop.height)"
    let kernel = halves ? "halved, then bicubic" : "bicubic"
    let scaled = isScaled ? "scaled to \(size.width)x\(size.height), \(kernel)" : "not scaled"
    summary = "\(layout.coded.width)x\(layout.coded.height)\(cropped), \(scaled)"
  }

  /// Draws a frame's upright picture.
  ///
  /// - Parameter target: of this converter's size, all of an aligned picture: vector loops write past a row's end.
  func draw(_ frame: borrowing Frame, into target: MutablePicture) throws(Stop) {
    guard scaler != nil else {
      let samples = frame.picture.region(x: crop.x, y: crop.y, width: crop.width, height: crop.height)
      target.copy(from: samples.reading, orientation: layout.orientation)
      return
    }
    if let halved {
      halved.copy(halving: frame.picture.region(x: crop.x, y: crop.y, width: crop.width, height: crop.height).reading)
      try scale(halved.planes, into: unturned ?? target)
    } else {
      try scale(frame.planes(of: (crop.x, crop.y)), into: unturned ?? target)
    }
    if let unturned { target.copy(from: unturned.reading, orientation: layout.orientation) }
  }

  /// Whether averaging four pixels into one first loses nothing that the target could show: at two and a half times
  /// the target's size the mean is flat over all the frequencies that remain, and bicubic does the rest on a quarter of
  /// the samples.
  private static func halves(_ crop: Rectangle, for target: Size) -> Bool {
    crop.width % 4 == 0 && crop.height % 4 == 0 && crop.width * 2 >= target.width * 5
      && crop.height * 2 >= target.height * 5
  }

  private func scale(_ source: Scaler.Planes, into target: MutablePicture) throws(Stop) {
    do { try scaler?.scale(source, to: target.planes) } catch { throw Stop(error) }
  }
}
