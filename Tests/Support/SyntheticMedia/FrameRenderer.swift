package import Kernels

/// Fills 8-bit 4:2:0 pictures (BT.709, limited range) with shots, on all processors.
package struct FrameRenderer: Sendable {
  /// Luma pixels in a row, even.
  package let width: Int
  /// The number of luma rows, even.
  package let height: Int
  /// The strength of the grain in the brightness of 8-bit steps: it also keeps gradients free of bands.
  package let grain: Float

  package init(width: Int, height: Int, grain: Float) {
    precondition(width % 2 == 0 && height % 2 == 0, "4:2:0 pictures have even sizes here")
    self.width = width
    self.height = height
    self.grain = grain
  }

  /// Renders the shot into `picture`; `frame` seeds the grain.
  package func render(_ shot: some Shot, frame: Int, into picture: borrowing ImageBuffer) async {
    precondition(picture.width == width && picture.height == height, "the picture has another size")
    let bandHeight = 32
    let bands = await withTaskGroup(of: Band.self) { group in
      for top in stride(from: 0, to: height, by: bandHeight) {
        group.addTask { band(of: shot, frame: frame, top: top, height: min(bandHeight, height - top)) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for band in bands { band.copy(into: picture.picture, width: width) }
  }

  private func band(of shot: some Shot, frame: Int, top: Int, height: Int) -> Band {
    var band = Band(top: top, height: height, width: width)
    let noise = Noise(seed: UInt32(truncatingIfNeeded: frame))
    let scale = 1 / Float(width)
    for row in stride(from: 0, to: height, by: 2) {
      for column in stride(from: 0, to: width, by: 2) {
        var sum = Color.zero
        for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
          let (x, y) = (column + right, top + row + down)
          let color = saturate(shot.color((Float(x) + 0.5) * scale, (Float(y) + 0.5) * scale))
          sum += color
          let luma = 0.2126 * color.x + 0.7152 * color.y + 0.0722 * color.z
          let dither = (noise.value(Int32(x), Int32(y)) - 0.5) * 2 * grain
          band.y[(row + down) * width + column + right] = UInt8(min(max(16.5 + 219 * luma + dither, 16), 235))
        }
        let mean = sum * 0.25
        let luma = 0.2126 * mean.x + 0.7152 * mean.y + 0.0722 * mean.z
        let index = row / 2 * (width / 2) + column / 2
        band.u[index] = UInt8(min(max(128.5 + 224 * (mean.z - luma) / 1.8556, 16), 240))
        band.v[index] = UInt8(min(max(128.5 + 224 * (mean.x - luma) / 1.5748, 16), 240))
      }
    }
    return band
  }
}

/// Some rows of a picture, made by one task.
private struct Band: Sendable {
  let top: Int
  let height: Int
  var y: [UInt8]
  var u: [UInt8]
  var v: [UInt8]

  init(top: Int, height: Int, width: Int) {
    self.top = top
    self.height = height
    y = [UInt8](repeating: 0, count: width * height)
    u = [UInt8](repeating: 0, count: width * height / 4)
    v = u
  }

  func copy(into picture: MutableImagePlanes, width: Int) {
    let rows = picture.region(x: 0, y: top, width: width, height: height)
    for (bytes, plane) in [(y, rows.y), (u, rows.u), (v, rows.v)] {
      bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        plane.copy(from: Plane(base: base, stride: plane.width, width: plane.width, height: plane.height))
      }
    }
  }
}
