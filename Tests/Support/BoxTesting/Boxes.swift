/// A box by hand (ISO/IEC 14496-12, 4.2).
package func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
  let bytes = Array(type.utf8) + content.flatMap { $0 }
  return bigEndian(UInt32(bytes.count + 4)) + bytes
}

/// A box whose size is written in 64 bits.
package func largeBox(_ type: String, _ content: [UInt8]) -> [UInt8] {
  bigEndian(UInt32(1)) + Array(type.utf8) + bigEndian(UInt64(content.count + 16)) + content
}

/// The box that names a file's brand.
package func fileType(_ brand: String) -> [UInt8] {
  box("ftyp", Array(brand.utf8), [0, 0, 0, 0], Array("isom".utf8))
}

/// A `trak` with a handler and nothing that could be played.
package func track(_ handler: String) -> [UInt8] {
  let content = [UInt8](repeating: 0, count: 8) + Array(handler.utf8) + [UInt8](repeating: 0, count: 12)
  let media = box("mdia", box("mdhd", [0, 0, 0, 0]), box("hdlr", content))
  return box("trak", box("tkhd", [UInt8](repeating: 0, count: 84)), media)
}

/// A `moov` with tracks of these handlers.
package func movie(_ handlers: String..., extra: [UInt8] = []) -> [UInt8] {
  box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)), handlers.flatMap(track), extra)
}

/// An `mdat` of a few bytes.
package let mediaData = box("mdat", [UInt8](repeating: 0xA5, count: 50))

/// A file that its boxes say is a clip, of a given length; unlike seeds give unlike files.
package func boxedClip(bytes: Int = 4096, seed: UInt8 = 0) -> [UInt8] {
  let start = fileType("isom") + movie("vide", "soun")
  return start + box("mdat", [UInt8](repeating: seed, count: bytes - start.count - 8))
}

/// A number in the order of bytes that boxes have.
package func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.bigEndian) { Array($0) }
}
