import Model
import Testing

@Suite("Public ids")
struct PublicIDTests {
  @Test("carry version and variant, and read back from their text")
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

  @Test(
    "anything else is refused",
    arguments: ["", "1234", "01234567x89ab-7000-8000-000000000000", "0123456789ab-7000-8000-0000000000000"])
  func refuses(text: String) {
    #expect(PublicID(text) == nil)
  }
}
