import Definitions
import Model
import Testing

@Suite("Photo definitions")
struct PhotoDefinitionTests {
  @Test("the built-in definitions can be decoded, and have their names", arguments: Definitions.photoNames)
  func builtIn(name: String) throws {
    let definition = try #require(try Definitions.photo(name))
    #expect(definition.name == name)
    #expect(!definition.variants.isEmpty && definition.photos >= 1)
    #expect(try JSON.decode(PhotoDefinition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("an unknown name has no definition")
  func unknown() throws { #expect(try Definitions.photo("nobody") == nil) }

  @Test(
    "variants without a size, with two sizes, or with an invalid quality are rejected",
    arguments: [
      #"{"quality": 80}"#, #"{"quality": 80, "long_edge": 5, "square": 5}"#, #"{"quality": 0, "square": 5}"#,
      #"{"quality": 80, "square": 0}"#,
    ])
  func malformed(text: String) {
    #expect(throws: DecodingError.self) { try JSON.decode(PhotoVariant.self, from: Array(text.utf8)) }
  }

  @Test("numbers that arithmetic could not bear are rejected with their names")
  func numbers() throws {
    let text = try JSON.text(try #require(try Definitions.photo("photo-post")))
    for (key, name) in [
      ("pixels", "limits.pixels"), ("progressive_pixels", "limits.progressive_pixels"),
      ("header_pixels", "limits.header_pixels"),
      ("bytes", "limits.bytes"), ("deadline_seconds", "deadline_seconds"), ("attempts", "attempts"),
      ("photos", "photos"),
    ] {
      let changed = text.replacing(try Regex("\"\(key)\":[0-9]+"), with: "\"\(key)\":-9223372036854775807")
      #expect(changed != text)
      let error = #expect(throws: DecodingError.self) {
        try JSON.decode(PhotoDefinition.self, from: Array(changed.utf8))
      }
      #expect(error.map(JSON.reason)?.hasPrefix("\(name): ") == true)
    }
  }

  @Test("the size at which a photo is decoded is the largest of eighths within the limit, rounded up, turned or not")
  func decoded() {
    func decoded(_ width: Int, _ height: Int, pixels: Int) -> Size {
      PhotoLimits(bytes: 1, pixels: pixels, headerPixels: nil, progressivePixels: 1, formats: []).decoded(
        Size(width: width, height: height))
    }
    #expect(decoded(8000, 8000, pixels: 64_000_000) == Size(width: 8000, height: 8000))
    #expect(decoded(8000, 8001, pixels: 64_000_000) == Size(width: 7000, height: 7001))
    #expect(decoded(16_320, 12_240, pixels: 64_000_000) == Size(width: 8160, height: 6120))
    #expect(decoded(12_240, 16_320, pixels: 64_000_000) == Size(width: 6120, height: 8160))
    #expect(decoded(65_500, 3175, pixels: 76_800) == Size(width: 8188, height: 397))
    for width in 1...40 {
      for pixels in 1...200 {
        let size = decoded(width, 13, pixels: pixels)
        #expect(decoded(13, width, pixels: pixels) == Size(width: size.height, height: size.width))
        #expect(size.width * size.height <= pixels || size == Size(width: (width + 7) / 8, height: 2))
      }
    }
  }

  @Test("a definition without the limit of the header means what it meant, and is written as it was")
  func withoutHeaderPixels() throws {
    let definition = try #require(try Definitions.photo("reaction"))
    #expect(definition.limits.headerPixels == nil)
    #expect(try !JSON.text(definition).contains("header_pixels"))
  }

  @Test("a definition with a preview plans it behind the variants, and one without is written and planned as it was")
  func preview() throws {
    let plain = try #require(try Definitions.photo("photo-post"))
    #expect(plain.preview == nil && plain.plan.outputs == plain.plan.variantRoles)
    #expect(try !JSON.text(plain).contains("preview") && !JSON.text(plain.plan).contains("preview"))
    let text = try JSON.text(plain)
    let changed = #"{"preview":{"long_edge":480,"quality":60},"# + text.dropFirst()
    let definition = try JSON.decode(PhotoDefinition.self, from: Array(changed.utf8))
    #expect(definition.preview == PhotoPreview(longEdge: 480, quality: 60))
    #expect(definition.plan.preview == definition.preview && definition.plan.variantRoles == plain.plan.outputs)
    #expect(definition.plan.outputs == plain.plan.outputs + [.photoPreview])
    #expect(try JSON.decode(PhotoDefinition.self, from: JSON.encode(definition)) == definition)
  }

  @Test(
    "what is no variant of a photo is not accepted as one", arguments: ["photo.preview", "composed", "source.photo"])
  func variants(role: String) throws {
    let text = try JSON.text(try #require(try Definitions.photo("photo-post")))
    let changed = text.replacing("\"photo.large\"", with: "\"\(role)\"")
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode(PhotoDefinition.self, from: Array(changed.utf8))
    }
    #expect(error.map(JSON.reason)?.hasPrefix("variants: '\(role)' is not one of photo.large, ") == true)
  }

  @Test("a square is cropped from the centre, a long edge keeps the aspect ratio, and neither is enlarged")
  func geometry() {
    let photo = Size(width: 4032, height: 3024)
    #expect(PhotoVariant(longEdge: 2048, quality: 80).geometry(of: photo).size == Size(width: 2048, height: 1536))
    let square = PhotoVariant(square: 150, quality: 80).geometry(of: photo)
    #expect(square.crop == Rectangle(x: 504, y: 0, width: 3024, height: 3024))
    #expect(square.size == Size(width: 150, height: 150))
    let small = Size(width: 29, height: 100)
    #expect(PhotoVariant(longEdge: 2048, quality: 80).geometry(of: small).size == small)
    #expect(PhotoVariant(square: 150, quality: 80).geometry(of: small).size == Size(width: 29, height: 29))
  }

  @Test(
    "formats are recognized by content",
    arguments: [
      ([0xFF, 0xD8, 0xFF, 0xE0], PhotoFormat.jpeg), (Array("\0\0\0\u{18}ftypheic".utf8), .heif),
      (Array("\0\0\0\u{18}ftypmif1".utf8), .heif), (Array("\0\0\0\u{18}ftypavif".utf8), .avif),
      (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), .webp), (Array("\0\0\0\u{18}ftypmp42".utf8), nil),
      (Array("GIF89a".utf8), .gif), (Array("GIF87a".utf8), .gif), (Array("GIF88a".utf8), nil), ([], nil),
    ] as [([UInt8], PhotoFormat?)])
  func formats(start: [UInt8], expected: PhotoFormat?) { #expect(PhotoFormat(start: start) == expected) }
}
