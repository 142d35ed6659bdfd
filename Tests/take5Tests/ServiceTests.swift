import HTTPClient
import Platform
import Testing

@testable import take5

@Suite("Refusal log")
struct RefusalLogTests {
  @Test("each client has one line per limit and interval, and many clients do not fill the log")
  func lines() {
    var limiter = RefusalLog.LineLimiter()
    let start = ContinuousClock.now
    let client = "192.0.2.7"
    let admitted = [
      limiter.admits("address", client, at: start), limiter.admits("address", client, at: start + .seconds(9)),
      limiter.admits("streams", client, at: start + .seconds(9)),
      limiter.admits("address", client, at: start + RefusalLog.LineLimiter.interval),
    ]
    #expect(admitted == [true, false, true, true])
    let logged = (0..<250).filter {
      limiter.admits("address", "198.51.100.\($0)", at: start + RefusalLog.LineLimiter.interval)
    }
    #expect(logged.count == RefusalLog.LineLimiter.maxLines - 1)
  }
}

@Suite("Database liveness")
struct DatabaseLivenessTests {
  private let start = ContinuousClock.now

  @Test("a database is not live after the limit without a reply, and live again after the next reply")
  func away() {
    let liveness = DatabaseLiveness(at: start)
    #expect(liveness.isRecent(at: start + DatabaseLiveness.limit))
    #expect(!liveness.isRecent(at: start + DatabaseLiveness.limit + .seconds(1)))
    liveness.recordReply(at: start + .seconds(90))
    #expect(liveness.isRecent(at: start + .seconds(91)))
  }
}

@Suite("Error responses of the service")
struct ErrorResponseTests {
  @Test("a redirect fails with its location and a hint")
  func redirect() {
    let location = "https://take5.example/v1/posts"
    let failure = CommandFailure(HTTPResponse(status: 308, headers: ["location": location], body: []))
    #expect(failure.status == .usage)
    #expect(failure.message?.contains(location) == true)
    #expect(failure.remedy?.contains("--server") == true)
  }
}

@Suite("Progress bar")
struct ProgressBarTests {
  @Test("it shows the progress, the stage and the remaining time")
  func text() {
    let text = ProgressBar.text(title: "composing", fraction: 0.5, stage: "compose", elapsed: .seconds(4))
    #expect(text == "composing  [############············]  50 %  compose  4 s left")
    #expect(ProgressBar.text(title: "x", fraction: 7, stage: "", elapsed: .zero).hasSuffix("] 100 %"))
    #expect(ProgressBar.text(title: "x", fraction: 0, stage: "", elapsed: .zero).hasSuffix("]   0 %"))
  }

  @Test("it is shorter than the line, and the bar is shortened first", arguments: 0...100)
  func width(width: Int) {
    let text = ProgressBar.text(
      title: "composing", fraction: 0.5, stage: "compose", elapsed: .seconds(4), width: width)
    #expect(text.count < max(width, 1))
    #expect(text.contains("50 %") == (width > 15), "\(text)")
    #expect(text.contains("[#") == (width > 42), "\(text)")
  }
}
