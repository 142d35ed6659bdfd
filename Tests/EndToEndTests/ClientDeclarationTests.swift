import Model
import Testing

/// Compares the Swift client's declarations with the service's.
@Suite("Declarations of the Swift client")
struct ClientDeclarationTests {
  @Test("the roles of its files are the roles of all files that the service serves to apps")
  func roles() throws {
    let text = try Document("Sources/Take5Client/Records/Asset.swift").text
    let names = text.matches(of: /public static let \w+ = Self\(rawValue: "([^"]+)"\)/).map { String($0.1) }
    #expect(names.sorted() == Role.allCases.filter { !$0.isSource }.map(\.rawValue).sorted())
  }
}
