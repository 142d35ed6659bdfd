import Model
import Testing

@Suite("Public ids")
struct PublicIDTests {
  @Test("an id has version and variant, and is parsed from its text")
  func textForm() throws {
    var random = SystemRandomNumberGenerator()
    let id = PublicID(milliseconds: 0x0123_4567_89AB, random: &random)
    let text = id.description
    #expect(text.hasPrefix("01234567-89ab-7"))
    #expect(["8", "9", "a", "b"].contains(text.split(separator: "-")[3].prefix(1)))
    #expect(PublicID(text) == id)
    #expect(PublicID(text.uppercased()) == id)
  }

  @Test("later ids sort after earlier ones")
  func order() {
    var random = SystemRandomNumberGenerator()
    let earlier = PublicID(milliseconds: 1_000, random: &random)
    let later = PublicID(milliseconds: 1_001, random: &random)
    #expect(earlier < later)
    #expect(earlier.description < later.description)
  }

  @Test("ids that one process creates concurrently are unique and increase")
  func rising() async {
    let ids = await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { (0..<2000).map { _ in PublicID.now() } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for run in ids { #expect(zip(run, run.dropFirst()).allSatisfy { $0 < $1 }) }
    #expect(Set(ids.joined()).count == 8000)
    #expect(ids[0][0].description.split(separator: "-")[2].hasPrefix("7"))
  }

  @Test(
    "other texts are rejected",
    arguments: ["", "1234", "01234567x89ab-7000-8000-000000000000", "0123456789ab-7000-8000-0000000000000"])
  func otherTexts(text: String) {
    #expect(PublicID(text) == nil)
  }
}
