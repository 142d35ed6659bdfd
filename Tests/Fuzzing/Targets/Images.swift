import AV
import Definitions
import Model
import Platform
import Stills

@testable import Media

extension FuzzTarget {
  static let images = [segments, exif, profile, photo]

  /// The segments of a JPEG in front of its scan, and the privacy checks of images.
  private static let segments = FuzzTarget("segments") { file in
    let segments = JPEGSegments(file)
    _ = IdentifyingMetadata.found(in: Exif(segments.exif), segments)
    _ = JPEGPrivacyCheck.finding(in: file)
    _ = WebPPrivacyCheck.finding(in: file)
    _ = PhotoFormat(start: file)
  }

  private static let exif = FuzzTarget("exif") { bytes in
    let exif = Exif(bytes[...])
    expect(1...8 ~= exif.orientation, "an impossible orientation")
    expect(Set(exif.identifying.map(\.name)).count == exif.identifying.count, "a field twice")
  }

  /// An ICC profile, which Little CMS reads.
  private static let profile = FuzzTarget("profile") { bytes in
    let profile = try ColorProfile(bytes)
    _ = profile.isSRGB
    guard profile.space == .cmyk else { return }
    var colors = [UInt8](repeating: 0, count: 3 * 4)
    profile.convert([0, 255, 17, 3, 9, 1, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255], into: &colors, count: 4)
  }

  /// An unnamed file with this content.
  static func file(_ bytes: [UInt8]) throws(SystemError) -> OpenFile {
    let file = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    try file.descriptor.write(bytes, at: 0)
    return file
  }

  // Small, so that many are decoded in a second.
  private static let limits = PhotoLimits(
    bytes: 1 << 20, pixels: 1 << 14, headerPixels: 1 << 17, progressivePixels: 1 << 13,
    formats: [.jpeg, .png, .webp, .gif])
  private static let variants = [
    PhotoVariant(longEdge: 64, quality: 80), PhotoVariant(square: 24, quality: 95),
  ]

  private static let silenceFFmpeg: Void = Library.configure(maxAllocation: 512 << 20)

  private static let preview = PhotoPreview(longEdge: 32, quality: 60)

  /// A JPEG, PNG, WebP or GIF, decoded and scaled to the largest of its variants, and the preview of an animation.
  private static let photo = FuzzTarget("photo") { bytes in
    silenceFFmpeg
    // libheif and its decoders are fuzzed by their own projects.
    let source = try PhotoSource(file(bytes), limits: limits)
    let photo = try PhotoDecoder(source: source, variants: variants).decode()
    let (coded, decoded) = (photo.facts.coded, photo.decoded)
    let headerPixels = source.format == .jpeg ? limits.headerPixels ?? limits.pixels : limits.pixels
    expect(coded.width * coded.height <= headerPixels, "more pixels than the limit of the header")
    expect(decoded.width * decoded.height <= limits.pixels, "more pixels than the limit")
    expect(decoded == limits.decoded(photo.facts.display), "another size than that by which replies are checked")
    for variant in variants {
      let geometry = variant.geometry(of: photo.decoded)
      expect(geometry.size.width > 0 && geometry.size.height > 0, "a variant without pixels")
    }
    var report = PhotoReport(facts: photo.facts)
    try PhotoPreviewWriter(preview: preview, source: source, file: file([])).write(addingTo: &report)
    expect(report.outputs.isEmpty == (report.facts?.previewImages == nil), "a preview that the facts do not name")
    expect(
      report.facts?.previewImages.map { 2...PhotoPreview.maxImages ~= $0 } ?? true,
      "a preview of too few or many images")
    expect(report.outputs.allSatisfy { 0...2 ~= $0.duration ?? 3 }, "a preview of another duration")
  }
}
