import Model

/// A colour as the outputs write it: 8-bit BT.709 in limited range (ITU-R BT.709-6, items 3.2 to 3.5).
struct YUVColor: Hashable, Sendable {
  let y: UInt8
  let u: UInt8
  let v: UInt8

  init(_ color: RGBColor) {
    let (red, green, blue) = (Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
    let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    y = UInt8((16 + 219 * luma).rounded())
    u = UInt8((128 + 224 * (blue - luma) / 1.8556).rounded())
    v = UInt8((128 + 224 * (red - luma) / 1.5748).rounded())
  }
}
