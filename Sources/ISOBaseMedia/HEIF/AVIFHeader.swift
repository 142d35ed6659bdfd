package import Model

/// What the headers of an AVIF say about its image.
package struct AVIFHeader: Hashable, Sendable {
  /// The sizes of the image: as coded, and after cropping where the coded sides are rounded up.
  package let sizes: Set<Size>

  private static let maxHeaderBytes: Int64 = 1 << 20

  /// Reads the headers of a file; nil if it is not one as this program writes them: the description in front of the
  /// data of the image, and no byte that belongs to no box.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns `count` bytes at an offset; fewer only at the end of the file.
  package static func read<Failure: Error>(
    size: Int64, read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> AVIFHeader? {
    guard let boxes = try BoxHeader.outermost(size: size, read: read),
      boxes.map(\.type) == ["ftyp", "meta", "mdat"], let data = boxes.last, data.offset <= maxHeaderBytes
    else { return nil }
    return AVIFHeader(try read(0, Int(data.offset)))
  }

  /// - Parameter bytes: the boxes in front of the data of the image.
  private init?(_ bytes: [UInt8]) {
    guard bytes.dropFirst(8).starts(with: "avif".utf8), let items = HEIFItems(bytes), let primary = items.primary,
      let properties = items.items[primary].flatMap(items.properties)
    else { return nil }
    sizes = Set(properties.compactMap(Self.size))
  }

  private static func size(_ property: Box) -> Size? {
    switch property.type {
    case "ispe":
      guard let width = property.reader.unsigned32(at: 4), let height = property.reader.unsigned32(at: 8) else {
        return nil
      }
      return Size(width: Int(width), height: Int(height))
    case "clap":
      return CleanAperture(property).map { Size(width: Int($0.width.rounded()), height: Int($0.height.rounded())) }
    default: return nil
    }
  }
}
