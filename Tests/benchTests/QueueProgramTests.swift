import Testing

@testable import bench

@Suite("Replies of the contestants' programs")
struct QueueReplyTests {
  @Test("a rate counts each requested job once, also if some ran twice")
  func rate() throws {
    let reply = try QueueReply(line: #"{"jobs": 3000, "seconds": 1.5}"#)
    #expect(try reply.rate(of: 3000) == 2000)
    #expect(try reply.rate(of: 2700) == 1800)
    #expect(throws: BenchError.self) { try reply.rate(of: 3001) }
  }

  @Test("a worker replies that it is ready, and with latencies")
  func worker() throws {
    #expect(try QueueReply(line: #"{"ready": true}"#).ready == true)
    #expect(try QueueReply(line: #"{"latencies": [2.25, 0.5]}"#).latencies == [2.25, 0.5])
  }

  @Test(
    "a line that is not a reply is an error",
    arguments: ["", "a worker failed", #"{"jobs": "many"}"#, #"{"latencies": [null]}"#])
  func invalid(line: String) {
    #expect(throws: BenchError.self) { try QueueReply(line: line) }
  }

  @Test("a rate requires jobs and a time", arguments: [#"{"jobs": 5}"#, #"{"jobs": 0, "seconds": 0}"#])
  func incomplete(line: String) throws {
    let reply = try QueueReply(line: line)
    #expect(throws: BenchError.self) { try reply.rate(of: reply.jobs ?? 0) }
  }
}

@Suite("Options of take5's queue process")
struct QueueSettingsTests {
  @Test("the process accepts the options of the contestant take5")
  func shipped() throws {
    for settings in [QueueContestant.take5.drain, QueueContestant.take5.worker] { _ = try QueueSettings(settings) }
    #expect(try QueueSettings(["--slots", "3"]).slots == 3)
  }

  @Test(
    "other options are errors",
    arguments: [["--slots"], ["--slots", "0"], ["--batch", "5"], ["--slots", "two"]])
  func invalid(arguments: [String]) {
    #expect(throws: BenchError.self) { try QueueSettings(arguments) }
  }

  @Test("a process requires a measure and a number of jobs", arguments: [[], ["drain"], ["rest", "5"]])
  func incomplete(arguments: [String]) {
    #expect(throws: BenchError.self) { try QueueProcess(arguments) }
  }
}
