import Stills
import Testing

@Suite("Colour profiles")
struct ColorProfileTests {
  /// A profile of a display, with the primaries of sRGB and a gamma of 2.2 (ICC.1, clause 7).
  private static let display: [UInt8] = {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    let colorants = [[0x6FA2, 0x38F5, 0x390], [0x6299, 0xB785, 0x18DA], [0x24A0, 0xF84, 0xB6CF]].map {
      Array("XYZ ".utf8) + zeros(4) + $0.flatMap(number)
    }
    let curve = Array("curv".utf8) + zeros(4) + number(1) + [2, 0x33, 0, 0]
    let names = ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"]
    var table = number(names.count)
    var content: [UInt8] = []
    for (name, data) in zip(names, colorants + [curve, curve, curve]) {
      table += Array(name.utf8) + number(132 + 12 * names.count + content.count) + number(data.count)
      content += data
    }
    let header =
      number(132 + 12 * names.count + content.count) + zeros(4) + [2, 0x10, 0, 0] + Array("mntrRGB XYZ ".utf8)
      + zeros(12)
      + Array("acsp".utf8) + zeros(28) + [0xF6D6, 0x1_0000, 0xD32D].flatMap(number) + zeros(48)
    return header + table + content
  }()

  @Test("a profile of more than four megabytes is refused")
  func size() throws {
    func padded(to count: Int) -> [UInt8] { Self.display + [UInt8](repeating: 0, count: count - Self.display.count) }
    #expect(try ColorProfile(padded(to: 4 << 20)).space == .rgb)
    #expect(throws: ImageError.self) { _ = try ColorProfile(padded(to: (4 << 20) + 1)) }
  }
}
