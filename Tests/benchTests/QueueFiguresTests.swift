import Testing

@testable import bench

@Suite("Figures of the queue")
struct QueueFiguresTests {
  /// take5 is `factor` times as fast as pgqueuer, awa a tenth as fast, procrastinate a hundredth.
  private static func run(_ factor: Double) -> QueueRun {
    func result(_ rate: Double, milliseconds: Double) -> QueueResult {
      QueueResult(
        single: rate / 10, bulk: rate * 3, drain: rate, snapshotDrain: rate / 2,
        latency: Statistics((1...100).map { milliseconds * Double($0) / 50 }),
        cost: QueueCost(walBytes: 700, commits: 0.002, deadTuples: 1))
    }
    var run = QueueRun()
    run[.take5] = result(1000 * factor, milliseconds: 2)
    run[.pgqueuer] = result(1000, milliseconds: 4)
    run[.awa] = result(100, milliseconds: 5)
    run[.procrastinate] = result(10, milliseconds: 8)
    run.claimsOfThousand = Statistics([1, 2, 90])
    run.claimsOfMillion = Statistics([2.4])
    return run
  }

  private static let figures = QueueFigures(
    runs: [run(2), run(5), run(4)], latencies: .init(quiet: [800, 1000], reprocessing: [900, 1100]))

  private func value(_ name: String) throws -> Double {
    try #require((Self.figures.figures + Self.figures.observations).first { $0.figure.name == name }).value
  }

  @Test("the six figures have the documented names and goals")
  func goals() {
    let expected: [(String, Goal)] = [
      ("queue.enqueue_bulk.vs_pgqueuer", .atLeast(3)), ("queue.enqueue_single.vs_pgqueuer", .atLeast(1.5)),
      ("queue.latency_p50.vs_best_peer", .atMost(0.5)), ("queue.latency_p99.vs_best_peer", .atMost(1.1)),
      ("queue.claim.million_waiting.vs_thousand", .atMost(1.3)),
      ("queue.latency_p95.reprocessing.vs_quiet", .atMost(1.25)),
    ]
    #expect(Self.figures.figures.map(\.figure.name) == expected.map(\.0))
    #expect(Self.figures.figures.map(\.figure.goal) == expected.map(\.1))
  }

  @Test("ratios are computed within a run, and the value is the median of all runs")
  func ratios() throws {
    #expect(try value("queue.enqueue_bulk.vs_pgqueuer") == 4)
    #expect(try value("queue.enqueue_single.vs_pgqueuer") == 4)
    #expect(try value("queue.claim.million_waiting.vs_thousand") == 1.2)
    #expect(try value("queue.latency_p95.reprocessing.vs_quiet") == 1.1)
  }

  @Test("latencies are compared with the best peer's")
  func latencies() throws {
    #expect(try value("queue.latency_p50.vs_best_peer") == 0.5)
    #expect(try value("queue.latency_p99.vs_best_peer") == 0.5)
    #expect(try value("queue.awa.latency") == 5)
  }

  @Test("each contestant has observations of its rates and costs, without goals")
  func observations() throws {
    for contestant in QueueContestant.all {
      for name in [
        "drain", "drain_beside_snapshot", "enqueue_bulk", "enqueue_single", "latency", "wal_bytes", "commits",
        "dead_tuples",
      ] {
        _ = try value("queue.\(contestant.name).\(name)")
      }
    }
    #expect(Self.figures.observations.allSatisfy { $0.figure.goal == nil })
  }

  @Test("a cost is per job, and a decrease of dead tuples counts as 0")
  func cost() {
    let before = QueueCost(walBytes: 1000, commits: 10, deadTuples: 50)
    let after = QueueCost(walBytes: 71_000, commits: 14, deadTuples: 20)
    #expect(after.since(before, jobs: 100) == QueueCost(walBytes: 700, commits: 0.04, deadTuples: 0))
  }
}
