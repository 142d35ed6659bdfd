import Testing

@testable import bench

@Suite("Answers of the queues' programs")
struct QueueAnswerTests {
  @Test("a rate is of as many jobs as were asked for, however often one ran")
  func rate() throws {
    let answer = try QueueAnswer(line: #"{"jobs": 3000, "seconds": 1.5}"#)
    #expect(try answer.rate(of: 3000) == 2000)
    #expect(try answer.rate(of: 2700) == 1800)
    #expect(throws: BenchError.self) { try answer.rate(of: 3001) }
  }

  @Test("a worker tells that it is ready, and what it measured")
  func worker() throws {
    #expect(try QueueAnswer(line: #"{"ready": true}"#).ready == true)
    #expect(try QueueAnswer(line: #"{"latencies": [2.25, 0.5]}"#).latencies == [2.25, 0.5])
  }

  @Test(
    "what is no answer is refused", arguments: ["", "a worker failed", #"{"jobs": "many"}"#, #"{"latencies": [null]}"#])
  func wrong(line: String) {
    #expect(throws: BenchError.self) { try QueueAnswer(line: line) }
  }

  @Test("there is no rate without a time", arguments: [#"{"jobs": 5}"#, #"{"jobs": 0, "seconds": 0}"#])
  func incomplete(line: String) throws {
    let answer = try QueueAnswer(line: line)
    #expect(throws: BenchError.self) { try answer.rate(of: answer.jobs ?? 0) }
  }
}
