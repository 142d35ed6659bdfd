import Stills
import Testing

@Suite struct ThumbHashTests {
  /// The hashes come from a published implementation in another language, fed with the same pixels. The picture has no
  /// symmetry: a frequency of exactly zero would be rounded by the noise of the arithmetic.
  @Test(arguments: [
    (100, 56, "1wYKNJiQh4dxd3d5d4eQgQn5Zw=="),
    (56, 100, "1wYKNBiQB3eXh3eHd4iQgAn5aA=="),
    (40, 40, "1wYKNxiQh4dxh3d5d3eHh3h3CBqYkH8G"),
    (1, 1, "AAgCBwAAAAAAAAAAAAAAAAAAAAAAAAAA"),
    (7, 90, "luYJMRigcJeIdoiHgoAa+Wg="),
  ])
  func hashesEqualThoseOfOthers(width: Int, height: Int, expected: String) {
    let picture = RGBImage(width: width, height: height) { x, y in
      let red = x * x * 251 / (width * width)
      let green = (y * y + x) * 239 / (height * height + width)
      return (UInt8(red), UInt8(green), UInt8((x * 7 + y * y * 3) % 61 * 4))
    }
    let hash = ThumbHash(picture)
    #expect(hash.base64 == expected)
    #expect(hash.bytes.count <= 25)
  }

  @Test(arguments: [(255, 0, 0), (0, 128, 255), (250, 240, 230), (12, 40, 8)])
  func averageColorIsThePicturesOwn(red: Int, green: Int, blue: Int) {
    let picture = RGBImage(width: 30, height: 40) { _, _ in (UInt8(red), UInt8(green), UInt8(blue)) }
    let average = ThumbHash(picture).averageColor
    #expect(abs(average.red - Double(red) / 255) < 0.04)
    #expect(abs(average.green - Double(green) / 255) < 0.04)
    #expect(abs(average.blue - Double(blue) / 255) < 0.04)
  }

  @Test(arguments: [(100, 100), (100, 56), (56, 100), (90, 30)])
  func aspectRatioIsNearThePictures(width: Int, height: Int) {
    let hash = ThumbHash(RGBImage.gradient(width: width, height: height))
    let ratio = Double(width) / Double(height)
    #expect(abs(hash.aspectRatio / ratio - 1) < 0.2)
  }

  @Test func differentPicturesHashDifferently() {
    let up = RGBImage(width: 50, height: 50) { _, y in (UInt8(y * 5), UInt8(y * 5), UInt8(y * 5)) }
    let down = RGBImage(width: 50, height: 50) { _, y in (UInt8(245 - y * 5), UInt8(245 - y * 5), UInt8(245 - y * 5)) }
    #expect(ThumbHash(up) != ThumbHash(down))
  }
}
