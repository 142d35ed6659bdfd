/// A value of a problem's member; it writes itself as JSON (RFC 8259).
package indirect enum ProblemValue: Sendable, Hashable {
  case string(String)
  case integer(Int64)
  case list([ProblemValue])
  case object([Problem.Member])

  /// The JSON text in UTF-8.
  var json: [UInt8] {
    var text: [UInt8] = []
    write(to: &text)
    return text
  }

  private func write(to text: inout [UInt8]) {
    switch self {
    case .string(let string): Self.write(string, to: &text)
    case .integer(let integer): text += String(integer).utf8
    case .list(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        value.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: text += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
