import Testing

@testable import bench

@Suite("Settings of our own queue's process")
struct QueueSettingsTests {
  @Test("what the contestant is told, its process understands")
  func shipped() throws {
    for settings in [QueueContestant.take5.drain, QueueContestant.take5.worker] { _ = try QueueSettings(settings) }
    #expect(try QueueSettings(["--slots", "3"]).slots == 3)
  }

  @Test(
    "anything else is refused",
    arguments: [["--slots"], ["--slots", "0"], ["--batch", "5"], ["--slots", "two"]])
  func wrong(words: [String]) {
    #expect(throws: BenchError.self) { try QueueSettings(words) }
  }

  @Test("a process without a measure and a number does not start", arguments: [[], ["drain"], ["rest", "5"]])
  func incomplete(words: [String]) {
    #expect(throws: BenchError.self) { try QueueProcess(words) }
  }
}
