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
      (Array("GIF89a".utf8), nil), ([], nil),
    ] as [([UInt8], PhotoFormat?)])
  func formats(start: [UInt8], expected: PhotoFormat?) { #expect(PhotoFormat(start: start) == expected) }
}
