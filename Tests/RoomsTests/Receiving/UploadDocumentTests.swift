import FoundationEssentials
import Testing

/// Compares the lists of docs/uploads-conformance.md with the tests.
@Suite("The conformance of uploads")
struct UploadDocumentTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  /// The texts in backticks of a line.
  private static func quoted(_ line: some StringProtocol) -> [String] {
    line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  @Test("each demand of the protocols has a test, and all tests that the document names exist")
  func demands() throws {
    let text = try String(contentsOfFile: "\(Self.root)/docs/uploads-conformance.md", encoding: .utf8)
    let demands = text.split(separator: "\n")
    let rows = demands.filter { $0.hasPrefix("- ") }
    #expect(rows.count > 45)
    // The section, the demand and the tests.
    for row in rows { #expect(row.wholeMatch(of: /- [^:]+: .+: `[^:]+`/) != nil, "\(row)") }
    let named = Set(demands.flatMap { Self.quoted($0) }.filter { $0.firstRange(of: "Tests.") != nil })
    #expect(named.count > 40)
    let folders = ["RoomsTests", "HTTPServerTests", "BlobsTests"].map { "\(Self.root)/Tests/\($0)" }
    let sources = try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix("Tests.swift") }
        .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    }
    for test in named {
      let parts = test.split(separator: ".")
      let exists = sources.contains { source in
        source.contains("struct \(parts[0]) ") && source.contains("func \(parts[1])(")
      }
      #expect(exists, "\(test)")
    }
  }
}
