import HTTPClient
import Testing

@testable import take5

@Suite("What a service answers instead")
struct AnswerFailureTests {
  @Test("a redirect names where the service is, and how to ask there")
  func redirect() {
    let location = "https://take5.example/v1/posts"
    let failure = CommandFailure(HTTPAnswer(status: 308, headers: ["location": location], body: []))
    #expect(failure.status == .usage)
    #expect(failure.message?.contains(location) == true)
    #expect(failure.remedy?.contains("--server") == true)
  }
}
