import BoxTesting
import ISOBaseMedia
import Testing

@Suite("File signatures")
struct FileSignatureTests {
  @Test(
    "text and image formats are recognized",
    arguments: [
      ("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\"/>", "an SVG drawing"),
      ("\u{FEFF}\n<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"\">", "an SVG drawing"),
      ("<?xml version=\"1.0\"?><!-- made by hand --><svg:svg viewBox=\"0 0 1 1\"/>", "an SVG drawing"),
      ("<?xml version=\"1.0\"?><gpx version=\"1.1\"/>", "a text file"),
      ("<svgs>are many</svgs>", "a text file"),
      ("BMX is a sport\n", "a text file"),
      ("MM\0*\0\0\0\u{8}", "a TIFF image or a raw photo"),
      ("\0\0\0\u{C}JXL \r\n", "a JPEG XL image"),
      ("\0\0\0\u{C}jP  \r\n", "a JPEG 2000 image"),
    ])
  func texts(text: String, name: String) {
    let found = FileSignature(Array(text.utf8))
    #expect(found.name == name)
    #expect(found.kind == (name == "a text file" ? .other : .image))
  }

  @Test(
    "containers and binary formats are recognized",
    arguments: [
      (fileType("heic"), "an HEIC image", FileSignature.Kind.image), (fileType("qt  "), "a MOV video", .video),
      (fileType("3gp5"), "a 3GP video", .video), (box("wide") + mediaData, "a MOV video", .video),
      ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska file", .video), ([], "of an unknown format", .other),
      (Array("BM".utf8) + [UInt8](repeating: 0, count: 30), "a BMP image", .image),
    ])
  func boxes(bytes: [UInt8], name: String, kind: FileSignature.Kind) {
    let found = FileSignature(bytes)
    #expect(found.name == name && found.kind == kind)
  }

  @Test("the remedy depends on the type of media")
  func remedies() {
    func refusal(_ bytes: [UInt8]) -> ContainerRefusal? {
      let result = ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
        Array(bytes.dropFirst(Int(offset)).prefix(count))
      }
      if case .failure(let refusal) = result { return refusal }
      return nil
    }
    for image in [fileType("heic"), Array("GIF89a".utf8), Array("<svg/>".utf8) + Array("<svg >".utf8)] {
      let text = refusal(image)?.description ?? ""
      #expect(text.contains("Send the clip, not an image.") && !text.contains("Export"), "\(text)")
    }
    #expect(refusal(Array("hello".utf8))?.description.contains("Export the clip as MP4.") == true)
  }
}
