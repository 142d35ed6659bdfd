import Glibc
internal import Model

/// A line that the program of a contestant prints.
struct QueueAnswer: Codable, Sendable, Hashable {
  /// Whether a worker has begun its first job.
  var ready: Bool?
  /// How many jobs were enqueued or carried out.
  var jobs: Int?
  var seconds: Double?
  /// Milliseconds, in the order in which the jobs were sent.
  var latencies: [Double]?

  init(jobs: Int? = nil, seconds: Double? = nil, latencies: [Double]? = nil, ready: Bool? = nil) {
    self.jobs = jobs
    self.seconds = seconds
    self.latencies = latencies
    self.ready = ready
  }

  /// Reads a line.
  init(line: String) throws {
    do {
      self = try JSON.decode(QueueAnswer.self, from: Array(line.utf8))
    } catch {
      throw BenchError("this is no answer of a queue's program: \(line)", status: EX_PROTOCOL)
    }
  }

  /// Jobs a second; throws if fewer were told of than so many.
  ///
  /// More is no error: all of these queues promise to run a job at least once, and each counts once.
  func rate(of count: Int) throws -> Double {
    guard let jobs, let seconds, seconds > 0 else { throw BenchError("no rate was told", status: EX_PROTOCOL) }
    guard jobs >= count else { throw BenchError("\(jobs) jobs were told of \(count)", status: EX_PROTOCOL) }
    return Double(count) / seconds
  }
}
