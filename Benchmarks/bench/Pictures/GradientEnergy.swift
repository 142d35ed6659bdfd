internal import Kernels
internal import Model

/// The mean of the squared differences between neighbours in luma: pictures that were blurred have less of it.
struct GradientEnergy {
  private var sum: UInt64 = 0
  private var count = 0

  /// Of all pictures of a video.
  static func mean(of video: RawVideo) throws -> Double {
    let reader = try RawVideoReader(video)
    let picture = ImageBuffer(width: video.size.width, height: video.size.height)
    var energy = GradientEnergy()
    while try reader.next(into: picture.picture) { energy.add(picture.picture.y.reading) }
    return Double(energy.sum) / Double(energy.count)
  }

  private mutating func add(_ plane: Plane) {
    for y in 1..<plane.height {
      let row = plane.base + y * plane.stride
      var rowSum: UInt64 = 0
      for x in 1..<plane.width {
        let value = Int(row.load(fromByteOffset: x, as: UInt8.self))
        let left = value - Int(row.load(fromByteOffset: x - 1, as: UInt8.self))
        let above = value - Int(row.load(fromByteOffset: x - plane.stride, as: UInt8.self))
        rowSum += UInt64(left * left + above * above)
      }
      sum += rowSum
    }
    count += (plane.width - 1) * (plane.height - 1)
  }
}
