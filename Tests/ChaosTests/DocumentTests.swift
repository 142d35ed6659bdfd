import Platform
import Testing

/// The document tells of a run that was large enough.
struct DocumentTests {
  private static let path =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/reliability.md"

  @Test("the figures are of at least 20,000 jobs, 300 faults and 1,000 stored posts, and nothing was lost")
  func figures() throws {
    let text = String(decoding: try Descriptor(reading: Self.path).contents(), as: UTF8.self)
    func row(_ name: String) throws -> Substring {
      try #require(text.split(separator: "\n").first { $0.hasPrefix("| \(name)") }, "\(name)")
    }
    func number(_ name: String) throws -> Int {
      let value = try #require(row(name).split(separator: "|").dropFirst().first)
      return try #require(Int(value.drop { !$0.isNumber }.prefix { $0.isNumber }))
    }
    #expect(try number("jobs ") >= 20_000)
    #expect(try number("faults ") >= 300)
    #expect(try row("storm").contains("seed"))
    #expect(try row("lost, or done twice").contains("none"))
    #expect(try number("cells in which something did not hold") == 0)
    #expect(try row("not ready, or made twice").contains("none"))
    #expect(try number("stored") >= 1000 && number("processes killed") >= 100)
    #expect(try row("mixed, missing, made twice or left over").contains("none"))
  }
}
