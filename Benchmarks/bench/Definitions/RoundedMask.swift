internal import Kernels
internal import Model
internal import Platform

/// The shape of the inset as a picture, which the ffmpeg command takes as an input.
enum RoundedMask {
  /// Writes it in grey, white where the inset covers, as a portable graymap.
  static func write(_ size: Size, radius: Int, to path: String) throws {
    var rows = [UInt8](repeating: 255, count: size.width * size.height)
    let corner = CornerMask(radius: radius)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (column, row) = (min(x, size.width - 1 - x), min(y, size.height - 1 - y))
        guard column < corner.side && row < corner.side else { continue }
        rows[y * size.width + x] = corner.coverage[row * corner.side + column]
      }
    }
    let file = try Descriptor(writing: path, replacing: true)
    try file.write(Array("P5 \(size.width) \(size.height) 255\n".utf8) + rows)
  }
}
