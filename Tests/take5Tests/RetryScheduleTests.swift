import HTTPClient
import Model
import Testing

@testable import take5

@Suite("Retries of requests")
struct RetryScheduleTests {
  private static let lost = TemporaryFailure(.failure(HTTPClientError(.lost, "cut", "lost: cut")))!

  private static func busy(_ retryAfter: String?) -> TemporaryFailure {
    let headers = retryAfter.map { ["retry-after": $0] } ?? [:]
    return TemporaryFailure(.success(HTTPResponse(status: 503, headers: headers, body: [])))!
  }

  @Test("pauses double from half a second to 15 seconds, for ever; progress begins again")
  func doubling() throws {
    var schedule = RetrySchedule()
    var now = Duration.zero
    func delay(_ jitter: Double) throws -> Duration {
      let delay = try schedule.pause(after: Self.lost, at: now, jitter: jitter).delay
      now += delay
      return delay
    }
    #expect(try [0, 0, 0, 0, 0, 0].map(delay) == [0.5, 1, 2, 4, 7.5, 7.5].map { .seconds($0) })
    for _ in 0..<1000 { #expect(try delay(1) == .seconds(15)) }
    schedule.progressed()
    #expect(try [1, 0.5].map(delay) == [1, 1.5].map { .seconds($0) })
  }

  @Test("the time that the service asks for is honoured, and a shorter one does not shorten the pause")
  func retryAfter() throws {
    for (text, seconds) in [("40", 40.0), ("0", 1), ("-5", 1), ("Fri, 31 Dec 1999 23:59:59 GMT", 1), (nil, 1)] {
      var schedule = RetrySchedule()
      #expect(try schedule.pause(after: Self.busy(text), at: .zero, jitter: 1).delay == .seconds(seconds))
    }
  }

  @Test("a server that cannot be reached is an error at once until it has responded, then it is tried again")
  func unreachable() throws {
    let failure = try #require(TemporaryFailure(.failure(HTTPClientError(.unreachable, "refused", "no connection"))))
    var schedule = RetrySchedule()
    #expect(throws: CommandFailure.self) { try schedule.pause(after: failure, at: .zero, jitter: 0) }
    // A connection that was made and lost shows no wrong address.
    _ = try schedule.pause(after: Self.lost, at: .zero, jitter: 0)
    schedule.responded()
    _ = try schedule.pause(after: failure, at: .zero, jitter: 0)
  }

  @Test("it gives up after the time without progress, after a last attempt")
  func givingUp() throws {
    var schedule = RetrySchedule(giveUpAfter: .seconds(5))
    func pause(_ failure: TemporaryFailure = Self.lost, at now: Double) throws -> Double {
      try schedule.pause(after: failure, at: .seconds(now), jitter: 1).delay / .seconds(1)
    }
    #expect(try pause(at: 100) == 1)
    #expect(try pause(at: 102) == 2)
    #expect(try pause(at: 104) == 1)
    let failure = #expect(throws: CommandFailure.self) { try pause(at: 105) }
    #expect(failure?.status == .unavailable && failure?.remedy?.contains("--give-up-after") == true)
    #expect(failure?.message?.contains("gave up after 5 s") == true && failure?.message?.contains("cut") == true)
    // The time counts from the first failure after progress.
    schedule.progressed()
    #expect(try pause(at: 105) == 1)
    // A service that asks for more time than is left gets no further attempt.
    #expect(throws: CommandFailure.self) { try pause(Self.busy("6"), at: 105) }
    schedule = RetrySchedule(giveUpAfter: .zero)
    #expect(throws: CommandFailure.self) { try pause(at: 0) }
  }

  @Test("the user reads about the first failure after progress, and then once a minute")
  func reports() throws {
    var schedule = RetrySchedule()
    func isReported(_ now: Double) throws -> Bool {
      try schedule.pause(after: Self.lost, at: .seconds(now), jitter: 0).isReported
    }
    #expect(try [0, 1, 59, 60, 61, 119, 120].map(isReported) == [true, false, false, true, false, false, true])
    schedule.progressed()
    #expect(try isReported(121))
  }

  @Test("failures of this machine and damaged media are not temporary")
  func final() {
    #expect(TemporaryFailure(.failure(HTTPClientError("a file became shorter"))) == nil)
    let body = Array(#"{"type":"urn:take5:problem:media_damaged","title":"T"}"#.utf8)
    #expect(TemporaryFailure(.success(HTTPResponse(status: 503, headers: [:], body: body))) == nil)
  }

  @Test("--give-up-after takes seconds")
  func option() throws {
    for command in [Subcommand.submitPost, .submitReaction] {
      let operands = ["a", "b"]
      #expect(try Arguments(operands, of: command, environment: [:]).seconds("--give-up-after") == nil)
      let given = try Arguments(operands + ["--give-up-after", "1.5"], of: command, environment: [:])
      #expect(try given.seconds("--give-up-after") == 1.5)
      let wrong = try Arguments(operands + ["--give-up-after", "never"], of: command, environment: [:])
      #expect(throws: CommandFailure.self) { try ServiceClient(wrong) }
    }
  }
}

@Suite("Progress of an upload")
struct SendingProgressTests {
  @Test("amounts have the unit of the total")
  func amounts() {
    #expect(ByteText.amount(7_340_000, of: 20_000_000) == "7.3 of 20.0 MB")
    #expect(ByteText.amount(0, of: 1_950_000) == "0.0 of 2.0 MB")
    #expect(ByteText.amount(511_600, of: 999_999) == "512 of 1000 kB")
    #expect(ByteText.seconds(.milliseconds(500)) == "1 s" && ByteText.seconds(.seconds(2)) == "2 s")
  }

  @Test("the rate and the remaining time are shown once they are known")
  func progress() {
    #expect(ByteText.progress(7_300_000, of: 20_000_000, rate: nil) == "7.3 of 20.0 MB")
    #expect(ByteText.progress(7_300_000, of: 20_000_000, rate: 1_200_000) == "7.3 of 20.0 MB  1.2 MB/s  11 s left")
    #expect(ByteText.progress(0, of: 20_000_000, rate: 50_000) == "0.0 of 20.0 MB  50 kB/s  6m 40s left")
    #expect(ByteText.progress(0, of: 20_000_000, rate: 0) == "0.0 of 20.0 MB  0 kB/s")
  }

  @Test("the rate counts the last seconds")
  func rate() {
    var rate = TransferRate()
    for tenth in 0...400 {
      // 1 MB/s for 20 seconds, then nothing.
      rate.add(Int64(min(tenth, 200)) * 100_000, at: .milliseconds(tenth * 100))
      switch tenth {
      case ..<5: #expect(rate.bytesPerSecond == nil)
      case 200: #expect(abs(rate.bytesPerSecond! - 1_000_000) < 1)
      case 225: #expect(abs(rate.bytesPerSecond! - 500_000) < 20_000)
      case 260...: #expect(rate.bytesPerSecond == 0)
      default: break
      }
    }
  }
}
