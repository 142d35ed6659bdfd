/// Boxes by hand.
func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
  let bytes = Array(type.utf8) + content.flatMap { $0 }
  return bigEndian(UInt32(bytes.count + 4)) + bytes
}

/// A box whose size is written in 64 bits.
func largeBox(_ type: String, _ content: [UInt8]) -> [UInt8] {
  bigEndian(UInt32(1)) + Array(type.utf8) + bigEndian(UInt64(content.count + 16)) + content
}

func fileType(_ brand: String) -> [UInt8] { box("ftyp", Array(brand.utf8), [0, 0, 0, 0], Array("isom".utf8)) }

func track(_ handler: String) -> [UInt8] {
  let content = [UInt8](repeating: 0, count: 8) + Array(handler.utf8) + [UInt8](repeating: 0, count: 12)
  return box(
    "trak", box("tkhd", [UInt8](repeating: 0, count: 84)), box("mdia", box("mdhd", [0, 0, 0, 0]), box("hdlr", content)))
}

func movie(_ handlers: String..., extra: [UInt8] = []) -> [UInt8] {
  box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)), handlers.flatMap(track), extra)
}

let mediaData = box("mdat", [UInt8](repeating: 0xA5, count: 50))

func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.bigEndian) { Array($0) }
}
