/// The data of the items of a HEIF or AVIF.
struct HEIFData {
  let file: ArraySlice<UInt8>
  let items: HEIFItems

  /// Where an item's data lie, a slice an extent.
  func extents(of item: HEIFItem) throws(HEIFRefusal) -> [ArraySlice<UInt8>] {
    guard item.constructionMethod <= 1 else {
      throw .unsupported("its item \(item.id) is cut out of other items")
    }
    guard let extents = item.extents else { throw .damaged("its item \(item.id) has no place in the file") }
    let whole = item.constructionMethod == 0 ? file : items.data
    var slices: [ArraySlice<UInt8>] = []
    for extent in extents {
      let (end, overflow) = extent.offset.addingReportingOverflow(extent.count)
      guard !overflow, end <= UInt64(whole.count) else {
        throw item.constructionMethod == 0
          ? .truncated("its item \(item.id) lies behind the end of the file")
          : .damaged("its item \(item.id) lies behind the end of its box")
      }
      let start = whole.startIndex + Int(extent.offset)
      slices.append(whole[start..<start + Int(extent.count)])
    }
    return slices
  }

  /// The Exif data of a picture from the byte order mark on; what is not sound counts as none.
  func exif(of picture: UInt32) -> ArraySlice<UInt8> {
    let described = items.references.filter { $0.type == "cdsc" && $0.to.contains(picture) }
    guard let item = described.lazy.compactMap({ items.items[$0.from] }).first(where: { $0.type == "Exif" }),
      let extents = try? extents(of: item), let first = extents.first
    else { return [] }
    // Those of cameras have one extent.
    let block = extents.count == 1 ? first : extents.reduce(into: []) { if $0.count <= file.count { $0 += $1 } }
    // The block begins with the distance from its next byte to the byte order mark (ISO/IEC 23008-12, A.2.1).
    guard let distance = BigEndian(block).unsigned32(at: 0) else { return [] }
    return block.dropFirst(4).dropFirst(Int(distance))
  }
}
