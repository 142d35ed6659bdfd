import Glibc
package import Kernels

/// Renders shots into 8-bit 4:2:0 images (BT.709, limited range) on all processors.
package struct FrameRenderer: Sendable {
  /// The number of luma pixels in a row, even.
  package let width: Int
  /// The number of luma rows, even.
  package let height: Int
  /// The amplitude of the luma noise in 8-bit codes; it also prevents banding in gradients.
  package let grain: Float

  package init(width: Int, height: Int, grain: Float) {
    precondition(width % 2 == 0 && height % 2 == 0, "the size is not even")
    self.width = width
    self.height = height
    self.grain = grain
  }

  /// Renders a shot into `buffer`; `frame` seeds the noise.
  package func render(_ shot: some Shot, frame: Int, into buffer: borrowing ImageBuffer) async {
    precondition(buffer.width == width && buffer.height == height, "the buffer has a different size")
    let bandHeight = 32
    let bands = await withTaskGroup(of: Band.self) { group in
      for top in stride(from: 0, to: height, by: bandHeight) {
        group.addTask { band(of: shot, frame: frame, top: top, height: min(bandHeight, height - top)) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for band in bands { band.copy(into: buffer.imagePlanes, width: width) }
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

/// Rows of an image, rendered by one task.
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

  func copy(into image: MutableImagePlanes, width: Int) {
    let rows = image.region(x: 0, y: top, width: width, height: height)
    for (bytes, plane) in [(y, rows.y), (u, rows.u), (v, rows.v)] {
      bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        plane.copy(from: Plane(base: base, stride: plane.width, width: plane.width, height: plane.height))
      }
    }
  }
}

/// A scene that changes over time.
package protocol Scene: Sendable {
  /// The state of the scene in one frame.
  associatedtype Shot: SyntheticMedia.Shot
  /// Returns the scene at a time in seconds.
  func shot(at time: Float) -> Shot
}

/// One frame of a scene as a function of the position.
package protocol Shot: Sendable {
  /// Returns the colour at a point: `x` from 0 at the left to 1 at the right edge, `y` downwards in the same unit.
  func color(_ x: Float, _ y: Float) -> Color
}

/// The motion of a handheld camera: slow drift, breathing, and a small tremor.
package struct HandheldCamera: Sendable {
  private let phase: Float
  private let strength: Float

  /// `strength` is the drift in frame widths; cameras with different phases move differently.
  package init(strength: Float, phase: Float) {
    self.strength = strength
    self.phase = phase
  }

  /// Returns the offset of the frame in frame widths, and its rotation in radians.
  package func pose(at time: Float) -> (x: Float, y: Float, angle: Float) {
    let t = time + phase
    let x = 0.7 * sin(1.1 * t) + 0.3 * sin(2.7 * t + 1.3) + 0.07 * sin(9.1 * t)
    let y = 0.6 * sin(0.9 * t + 2.1) + 0.35 * sin(2.2 * t) + 0.06 * sin(10.7 * t + 0.4)
    let angle = 0.6 * sin(0.8 * t + 0.7) + 0.2 * sin(2.9 * t)
    return (strength * x, strength * y, strength * 0.6 * angle)
  }
}
