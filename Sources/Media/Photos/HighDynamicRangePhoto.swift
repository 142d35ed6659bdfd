import Kernels
import Model

/// A decoded photo of more than 8 bits in three planes, 4:2:0, in 16-bit words.
struct HighDynamicRangePhoto {
  let planes: [(base: UnsafeRawPointer, stride: Int)]
  let bits: Int
  /// Nil without transparency.
  let transparency: PhotoTransparency?
  let size: Size
  /// How it is turned.
  let orientation: Orientation

  /// Maps the colours and scales the photo, two rows at a time.
  func map(by table: ColorTable, into image: PlanarImage) {
    let chroma = Size(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
    let even = Size(width: chroma.width * 2, height: chroma.height * 2)
    let scalers = (0..<3).map { index in
      PlaneScaler(
        width: index == 0 ? size.width : chroma.width, height: index == 0 ? size.height : chroma.height,
        rowBytes: index == 0 ? even.width : chroma.width, band: 2, target: image.plane(index), orientation: orientation)
    }
    // Two rows of luma and one of each chroma plane, in ten bits, padded to an even width.
    let wide = AlignedBuffer(count: 2 * 4 * even.width)
    let mapped = ImageBuffer(width: even.width, height: 2)
    func words(_ row: Int) -> UnsafeMutablePointer<UInt16> {
      (wide.base + 2 * row * even.width).assumingMemoryBound(to: UInt16.self)
    }
    for pair in 0..<chroma.height {
      copy(0, row: 2 * pair, width: size.width, into: words(0), upTo: even.width)
      copy(0, row: min(2 * pair + 1, size.height - 1), width: size.width, into: words(1), upTo: even.width)
      copy(1, row: pair, width: chroma.width, into: words(2), upTo: chroma.width)
      copy(2, row: pair, width: chroma.width, into: words(3), upTo: chroma.width)
      transparency?.read(pair)
      transparency?.straighten(luma: words(0), u: words(2), v: words(3))
      table.map(
        ColorTable.Source(
          y: (UnsafeRawPointer(words(0)), 2 * even.width), u: (UnsafeRawPointer(words(2)), 2 * even.width),
          v: (UnsafeRawPointer(words(3)), 2 * even.width)), into: mapped.imagePlanes)
      transparency?.layOnWhite(mapped.imagePlanes)
      for (scaler, plane) in zip(scalers, [mapped.imagePlanes.y, mapped.imagePlanes.u, mapped.imagePlanes.v]) {
        for row in 0..<plane.height {
          scaler.nextRow(after: row).update(
            from: (plane.base + row * plane.stride).assumingMemoryBound(to: UInt8.self), count: plane.width)
        }
        scaler.take(plane.height)
      }
    }
  }

  /// Copies a row in ten bits; the padding to an even width repeats the last sample.
  private func copy(_ plane: Int, row: Int, width: Int, into target: UnsafeMutablePointer<UInt16>, upTo count: Int) {
    let source = (planes[plane].base + row * planes[plane].stride).assumingMemoryBound(to: UInt16.self)
    let shift = bits - 10
    for x in 0..<count {
      let sample = source[min(x, width - 1)]
      target[x] = min(shift >= 0 ? sample >> UInt16(shift) : sample << UInt16(-shift), 1023)
    }
  }
}
