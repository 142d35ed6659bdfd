import MediaFixtures
import Stills
import Testing

@Suite("ThumbHash")
struct ThumbHashTests {
  /// The hashes were made from the same pixels by a published implementation in another language. The image has no
  /// symmetry, because the rounding of a frequency of exactly zero depends on the arithmetic.
  @Test(
    "another implementation computes the same hashes",
    arguments: [
      (100, 56, "1wYKNJiQh4dxd3d5d4eQgQn5Zw=="),
      (56, 100, "1wYKNBiQB3eXh3eHd4iQgAn5aA=="),
      (40, 40, "1wYKNxiQh4dxh3d5d3eHh3h3CBqYkH8G"),
      (1, 1, "AAgCBwAAAAAAAAAAAAAAAAAAAAAAAAAA"),
      (7, 90, "luYJMRigcJeIdoiHgoAa+Wg="),
    ])
  func hashes(width: Int, height: Int, expected: String) {
    let image = PhotoFixture.image(width: width, height: height) { x, y in
      let red = x * x * 251 / (width * width)
      let green = (y * y + x) * 239 / (height * height + width)
      return (UInt8(red), UInt8(green), UInt8((x * 7 + y * y * 3) % 61 * 4))
    }
    let hash = ThumbHash(image)
    #expect(hash.base64 == expected)
    #expect(hash.bytes.count <= 25)
  }

  @Test("different images have different hashes")
  func difference() {
    let up = PhotoFixture.image(width: 50, height: 50) { _, y in (UInt8(y * 5), UInt8(y * 5), UInt8(y * 5)) }
    let down = PhotoFixture.image(width: 50, height: 50) { _, y in
      (UInt8(245 - y * 5), UInt8(245 - y * 5), UInt8(245 - y * 5))
    }
    #expect(ThumbHash(up) != ThumbHash(down))
  }
}
