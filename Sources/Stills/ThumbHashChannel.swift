import Glibc

/// The cosines of a transform over `size` samples: row `frequency`, column `position`.
struct CosineTable {
  /// The transform keeps at most this many frequencies along an edge.
  private static let frequencies = 7
  /// Samples along the edge.
  let size: Int
  private let values: [Double]

  init(size: Int) {
    self.size = size
    values = (0..<Self.frequencies * size).map { index in
      let (frequency, position) = index.quotientAndRemainder(dividingBy: size)
      let cosine = cos(Double.pi / Double(size) * Double(frequency) * (Double(position) + 0.5))
      // The C library's last bit depends on the processor; cut to 40 bits it does not, and neither does the hash.
      return (cosine * 0x1p40).rounded() * 0x1p-40
    }
  }

  subscript(frequency: Int, position: Int) -> Double { values[frequency * size + position] }
}

/// One component of a picture as its mean and its lowest frequencies.
struct ThumbHashChannel {
  /// The mean of the values.
  let mean: Double
  /// The largest magnitude among the frequencies.
  let scale: Double
  /// The frequencies from 0 for `-scale` to 1 for `scale`, row by row of a triangle.
  let normalized: [Double]

  /// Transforms values that lie row by row.
  init(_ values: [Double], horizontal: CosineTable, vertical: CosineTable, columns: Int, rows: Int) {
    var mean = 0.0
    var frequencies: [Double] = []
    for row in 0..<rows {
      for column in 0..<columns where column * rows < columns * (rows - row) {
        var sum = 0.0
        for y in 0..<vertical.size {
          var line = 0.0
          for x in 0..<horizontal.size { line += values[y * horizontal.size + x] * horizontal[column, x] }
          sum += line * vertical[row, y]
        }
        let frequency = sum / Double(values.count)
        if row == 0 && column == 0 { mean = frequency } else { frequencies.append(frequency) }
      }
    }
    let scale = frequencies.map(\.magnitude).max() ?? 0
    self.mean = mean
    self.scale = scale
    normalized = scale == 0 ? frequencies : frequencies.map { 0.5 + 0.5 / scale * $0 }
  }
}
