import Model
import Testing

@Suite("Numbers with nouns")
struct CountTextTests {
  @Test("a number and its noun agree")
  func counts() {
    #expect([0, 1, 2].map { CountText.text($0, "job") } == ["0 jobs", "1 job", "2 jobs"])
  }
}
