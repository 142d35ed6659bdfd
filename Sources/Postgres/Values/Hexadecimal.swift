/// Lower-case hexadecimal, as `bytea` and `uuid` are written.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(of bytes: some Sequence<UInt8>) -> String {
    var characters: [UInt8] = []
    for byte in bytes {
      characters.append(digits[Int(byte >> 4)])
      characters.append(digits[Int(byte & 15)])
    }
    return String(decoding: characters, as: UTF8.self)
  }
}
