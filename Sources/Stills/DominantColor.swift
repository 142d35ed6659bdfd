/// The colour that most of a picture has: the mean of the fullest of 512 equal parts of the RGB cube.
package struct DominantColor: Hashable, Sendable {
  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  package init(_ image: RGBImage) {
    var sums = [SIMD4<Int>](repeating: .zero, count: 512)
    for at in stride(from: 0, to: image.bytes.count, by: 3) {
      let (r, g, b) = (Int(image.bytes[at]), Int(image.bytes[at + 1]), Int(image.bytes[at + 2]))
      sums[(r >> 5) << 6 | (g >> 5) << 3 | b >> 5] &+= SIMD4(r, g, b, 1)
    }
    let fullest = sums.max { $0.w < $1.w } ?? .zero
    let count = max(1, fullest.w)
    (red, green, blue) = (UInt8(fullest.x / count), UInt8(fullest.y / count), UInt8(fullest.z / count))
  }

  /// As in CSS, `#rrggbb`.
  package var hexadecimal: String {
    "#"
      + [red, green, blue].map { component in
        let text = String(component, radix: 16)
        return component < 16 ? "0\(text)" : text
      }.joined()
  }
}
