/// The figures of the queue, from what its runs gave; ratios are taken within a run.
struct QueueFigures {
  let runs: [QueueRun]
  /// Of authors, in all runs.
  let waits: ReprocessingLatency.Waits

  /// What has to be as good as promised.
  var judged: [Finding] {
    [
      ratio("enqueue_bulk.vs_pgqueuer", "jobs enqueued a second, many at once", .atLeast(3), \.bulk, .pgqueuer),
      ratio("enqueue_single.vs_pgqueuer", "the same one by one", .atLeast(1.5), \.single, .pgqueuer),
      latency(50, "from the call that enqueues to the handler of an idle worker, the half of all", .atMost(0.5)),
      latency(99, "the same, the slowest hundredth", .atMost(1.1)),
      Finding(
        Figure("queue.claim.million_waiting.vs_thousand", "time of a claim with 1,000,000 jobs waiting", .atMost(1.3)),
        runs.map { $0.claimsOfMillion.median / $0.claimsOfThousand.median },
        details: [
          Finding.Detail("1,000,000 waiting, ms", runs.map(\.claimsOfMillion.median)),
          Finding.Detail("1,000 waiting, ms", runs.map(\.claimsOfThousand.median)),
        ]),
      Finding(
        Figure(
          "queue.latency_p95.reprocessing.vs_quiet",
          "from the submission of a moment to its end while stored ones are made again, the slowest twentieth",
          .atMost(1.25)),
        [Statistics(waits.beside).percentile(95) / Statistics(waits.quiet).percentile(95)],
        details: [
          Finding.Detail("while stored ones are made again, ms", waits.beside, decimals: 0),
          Finding.Detail("with nothing else to do, ms", waits.quiet, decimals: 0),
        ]),
    ]
  }

  /// What helps to judge them: what each did, and what it left the database to do.
  var observed: [Finding] {
    QueueContestant.all.flatMap { contestant in
      [
        observation(contestant, "drain", "jobs drained a second", decimals: 0, \.drain),
        observation(contestant, "drain_beside_snapshot", "the same beside a snapshot", decimals: 0, \.pinnedDrain),
        observation(contestant, "enqueue_bulk", "jobs enqueued a second, many at once", decimals: 0, \.bulk),
        observation(contestant, "enqueue_single", "the same one by one", decimals: 0, \.single),
        Finding(
          Figure("queue.\(contestant.name).latency", "ms to the handler of an idle worker, the half of all"),
          runs.map { $0[contestant].latency.percentile(50) },
          details: [95, 99].map { percent in
            Finding.Detail("p\(percent)", runs.map { $0[contestant].latency.percentile(percent) })
          }),
        observation(contestant, "wal_bytes", "bytes of WAL for a job of the drain", decimals: 0, \.cost.walBytes),
        observation(contestant, "commits", "commits for a job of the drain", decimals: 3, \.cost.commits),
        observation(contestant, "dead_tuples", "dead tuples for a job of the drain", decimals: 2, \.cost.deadTuples),
      ]
    }
  }

  private func ratio(
    _ name: String, _ meaning: String, _ goal: Goal, _ rate: KeyPath<QueueResult, Double>, _ peer: QueueContestant
  ) -> Finding {
    Finding(
      Figure("queue.\(name)", meaning, goal, decimals: 2),
      runs.map { $0[.take5][keyPath: rate] / $0[peer][keyPath: rate] },
      details: [QueueContestant.take5, peer].map { contestant in
        Finding.Detail("\(contestant.title), jobs/s", runs.map { $0[contestant][keyPath: rate] }, decimals: 0)
      })
  }

  /// Against the peer that was best in the same run.
  private func latency(_ percent: Int, _ meaning: String, _ goal: Goal) -> Finding {
    func milliseconds(_ run: QueueRun, _ contestant: QueueContestant) -> Double {
      run[contestant].latency.percentile(percent)
    }
    return Finding(
      Figure("queue.latency_p\(percent).vs_best_peer", meaning, goal),
      runs.map { run in
        milliseconds(run, .take5) / (QueueContestant.peers.map { milliseconds(run, $0) }.min() ?? .infinity)
      },
      details: QueueContestant.all.map { contestant in
        Finding.Detail("\(contestant.title), ms", runs.map { milliseconds($0, contestant) }, decimals: 2)
      })
  }

  private func observation(
    _ contestant: QueueContestant, _ name: String, _ meaning: String, decimals: Int,
    _ value: KeyPath<QueueResult, Double>
  ) -> Finding {
    Finding(
      Figure("queue.\(contestant.name).\(name)", meaning, decimals: decimals),
      runs.map { $0[contestant][keyPath: value] }, details: [])
  }
}
