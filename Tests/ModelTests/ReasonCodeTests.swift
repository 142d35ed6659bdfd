import Glibc
import Model
import Testing

@Suite("Reason codes")
struct ReasonCodeTests {
  @Test("docs/reasons.md has a row for every code", arguments: ReasonCode.allCases)
  func documented(code: ReasonCode) throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(root)/docs/reasons.md", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    #expect(String(decoding: bytes.prefix(count), as: UTF8.self).contains("\n| `\(code.rawValue)` |"))
  }
}
