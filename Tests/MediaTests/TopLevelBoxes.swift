/// The boxes of a file at the top (ISO/IEC 14496-12, 4.2), in order.
struct TopLevelBoxes {
  let names: [String]

  init(_ bytes: [UInt8]) {
    var names: [String] = []
    var offset = 0
    while offset + 8 <= bytes.count {
      let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
      guard size >= 8 else { break }
      offset += size
    }
    self.names = names
  }
}
