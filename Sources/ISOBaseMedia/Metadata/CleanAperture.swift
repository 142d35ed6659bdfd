/// The part of a picture that is meant to be shown (ISO/IEC 14496-12, 12.1.4): fractions of samples, about its middle.
package struct CleanAperture: Hashable, Sendable {
  /// In samples.
  package let width: Double
  package let height: Double
  /// From the picture's middle to the part's, in samples.
  package let horizontalOffset: Double
  package let verticalOffset: Double

  /// Reads a `clap` box; nil where a fraction means nothing.
  init?(_ box: Box) {
    let reader = box.reader
    func fraction(at offset: Int, isSigned: Bool) -> Double? {
      guard let top = reader.signed32(at: offset), let bottom = reader.signed32(at: offset + 4), bottom != 0 else {
        return nil
      }
      let numerator = isSigned ? Double(top) : Double(UInt32(bitPattern: top))
      return numerator / Double(bottom)
    }
    guard let width = fraction(at: 0, isSigned: false), let height = fraction(at: 8, isSigned: false),
      let horizontal = fraction(at: 16, isSigned: true), let vertical = fraction(at: 24, isSigned: true),
      width >= 1, height >= 1
    else { return nil }
    self.width = width
    self.height = height
    horizontalOffset = horizontal
    verticalOffset = vertical
  }

  /// The part in whole samples of a picture of a size; nil where it is all of it, or does not lie in it.
  package func samples(ofWidth width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int)? {
    guard self.width <= Double(width), self.height <= Double(height) else { return nil }
    let (columns, rows) = (Int(self.width.rounded()), Int(self.height.rounded()))
    let x = (Double(width) - self.width) / 2 + horizontalOffset
    let y = (Double(height) - self.height) / 2 + verticalOffset
    guard x > -1, y > -1, x + self.width < Double(width) + 1, y + self.height < Double(height) + 1 else { return nil }
    let (left, top) = (max(0, Int(x.rounded())), max(0, Int(y.rounded())))
    let part = (x: left, y: top, width: min(columns, width - left), height: min(rows, height - top))
    return part.width == width && part.height == height ? nil : part
  }
}
