import BoxTesting
import ISOBaseMedia
import Model
import Testing

@Suite("Files that arrive")
struct StreamValidatorTests {
  private let builtIn: BuiltIn

  init() throws { builtIn = try BuiltIn() }

  @Test(
    "other formats are refused by their start, and named",
    arguments: [
      ("#EXTM3U\n#EXT-X-VERSION:3\nhttp://example.org/a.ts\n", "an HLS playlist"),
      ("PK\u{3}\u{4} and so on", "a ZIP archive"),
      ("%PDF-1.7\n", "a PDF document"),
      ("<!DOCTYPE html><html></html>", "a text file"),
      ("\u{1}\u{2}\u{3}", "of an unknown format"),
    ])
  func otherFormats(start: String, name: String) throws {
    let file = Array(start.utf8) + [UInt8](repeating: 0x20, count: 5000)
    let found = try #require(refusal(of: file, builtIn.any))
    #expect(found.reason.code == .unsupportedContainer)
    #expect(found.reason.detail.hasPrefix("The file is \(name), neither"))
    #expect(found.reason.byteOffset == 0)
    let photo = try #require(refusal(of: file, AcceptedMedia(photo: builtIn.photo)))
    #expect(
      photo.reason.detail == Reason(unsupportedPhoto: FileSignature(file), accepted: builtIn.photo.formats).detail)
    let clip = try #require(refusal(of: file, AcceptedMedia(clip: builtIn.moment, as: .back)))
    #expect(clip.reason.input == .back)
    #expect(clip.reason.detail.hasPrefix("The file is \(name), not a MOV"))
  }

  @Test("the kinds of media that are not accepted are refused by their start")
  func otherKind() throws {
    let clip = boxedClip()
    let photo = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 600)
    let asPhoto = try #require(refusal(of: clip, AcceptedMedia(photo: builtIn.photo)))
    #expect(asPhoto.reason.detail.contains("The file is an MP4 video, not a photo"))
    let asClip = try #require(refusal(of: photo, AcceptedMedia(clip: builtIn.moment, as: .front)))
    #expect(asClip.reason.detail.hasSuffix("Send the clip, not an image."))
    #expect(refusal(of: clip, builtIn.any) == nil)
  }

  @Test("an empty file is refused")
  func empty() throws {
    for length in [0, nil] as [Int64?] {
      for accepted in [
        builtIn.any, AcceptedMedia(photo: builtIn.photo), AcceptedMedia(clip: builtIn.moment, as: .front),
      ] {
        #expect(refusal(of: [], accepted, length: length)?.reason.code == .emptyFile)
      }
    }
  }

  @Test("a length beyond the limit is refused at once, and an unknown one when it is reached")
  func tooManyBytes() throws {
    var limits = builtIn.moment
    limits.bytes = 3000
    let accepted = AcceptedMedia(clip: limits, as: .front)
    let file = boxedClip(bytes: 4096)
    let declared = try #require(refusal(of: file, accepted))
    #expect(declared.reason.code == .tooLarge)
    #expect(declared.reason.detail.hasPrefix("The file has 4096 bytes; at most 3000 are accepted."))
    let found = try #require(refusal(of: file, accepted, length: nil))
    #expect(found.reason.detail.hasPrefix("The file has more than 3000 bytes; at most 3000 are accepted."))
    #expect(refusal(of: boxedClip(bytes: 3000), accepted, length: nil) == nil)
  }

  @Test("what any definition accepts is accepted")
  func loosest() throws {
    var (short, small) = (builtIn.moment, builtIn.marker)
    (short.containers, small.containers) = ([.mov], [.mp4])
    (short.bytes, small.bytes) = (100, 10_000)
    #expect(refusal(of: boxedClip(), AcceptedMedia(anyOf: [short, small], [])) == nil)
    let found = try #require(refusal(of: boxedClip(), AcceptedMedia(clip: short, as: .front)))
    #expect(found.reason.code == .tooLarge)
  }

  @Test("a refusal stays, whatever follows")
  func stays() throws {
    var validator = StreamValidator(accepting: builtIn.any, length: nil)
    let text = [UInt8](repeating: 0x20, count: 1000)
    let first = try #require(text.withUnsafeBytes { validator.append($0) })
    let second = boxedClip().withUnsafeBytes { validator.append($0) }
    #expect(second == first)
    #expect(validator.nextOffset == .max)
    #expect(throws: first) { try validator.finish() }
  }

  @Test(
    "a photo is judged by its type and its size, and its format sets its media type",
    arguments: [
      ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"), ([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10], "image/png"),
      (Array("RIFF0000WEBP".utf8), "image/webp"), (fileType("heic"), "image/heic"), (fileType("avif"), "image/avif"),
      (Array("GIF89a".utf8), "image/gif"),
    ] as [([UInt8], String)])
  func photo(start: [UInt8], type: String) throws {
    let file = start + [UInt8](repeating: 7, count: 1000)
    var accepted = builtIn.photo
    accepted.formats = PhotoFormat.allCases
    #expect(Judgement(file, AcceptedMedia(photo: accepted), length: nil).verdict == .success(type))
    var limits = accepted
    limits.bytes = 999
    #expect(refusal(of: file, AcceptedMedia(photo: limits), length: nil)?.reason.code == .tooLarge)
    limits = accepted
    limits.formats = limits.formats.filter { $0 != PhotoFormat(start: start) }
    #expect(refusal(of: file, AcceptedMedia(photo: limits))?.reason.code == .unsupportedContainer)
  }

  @Test("a new validator passes over the media data that have arrived")
  func resumed() throws {
    let file = fileType("isom") + box("mdat", [UInt8](repeating: 7, count: 1 << 20)) + movie("soun")
    let whole = try #require(refusal(of: file, builtIn.any))
    var validator = StreamValidator(accepting: builtIn.any, length: Int64(file.count))
    var (read, offset) = (0, 0)
    while offset < file.count {
      let piece = file[offset..<min(offset + 4096, file.count)]
      read += piece.count
      if let found = piece.withUnsafeBytes({ validator.append($0) }) {
        #expect(found == whole)
        break
      }
      offset = Int(min(validator.nextOffset, Int64(file.count)))
      validator.skip(to: Int64(offset))
    }
    #expect(read < 8192)
  }
}
