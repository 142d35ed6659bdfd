/// A `meta` box with a list of items, under names of its own (`keys`) or four characters (Apple, QuickTime File Format,
/// "Metadata").
struct KeyedMetadata {
  /// The names that it declares.
  let keys: [String]
  /// The four characters of items without a declared name.
  let items: [BoxType]
  private let list: Box?

  init(_ meta: Box) {
    // A full box in ISO files, a plain one in QuickTime's: the version's four bytes are zero.
    let isFull = meta.reader.unsigned32(at: 0) == 0
    let children = meta.children(after: isFull ? 4 : 0)
    let names = children.first { $0.type == "keys" }
    list = children.first { $0.type == "ilst" }
    keys = names.map(Self.keys) ?? []
    items = keys.isEmpty ? (list?.children() ?? []).map(\.type) : []
  }

  /// The text of the item of a name.
  func value(of key: String) -> String? {
    guard let index = keys.firstIndex(of: key) else { return nil }
    // Items refer to names by their number, which begins with 1.
    let item = list?.children().first { $0.type == BoxType(code: UInt32(index + 1)) }
    guard let data = item?.child("data"), data.content.count > 8 else { return nil }
    return data.reader.text(at: 8, count: data.content.count - 8)
  }

  private static func keys(_ box: Box) -> [String] {
    var keys: [String] = []
    var offset = 8
    // Size, namespace and name of each.
    while let size = box.reader.unsigned32(at: offset), size >= 8, keys.count < 1024,
      let name = box.reader.text(at: offset + 8, count: Int(size) - 8)
    {
      keys.append(name)
      offset += Int(size)
    }
    return keys
  }
}
