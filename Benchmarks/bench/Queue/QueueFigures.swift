/// The figures of the queue, from the results of all runs. Ratios are computed within a run.
struct QueueFigures {
  let runs: [QueueRun]
  /// The latencies of moments in all runs.
  let latencies: ReprocessingLatency.Latencies

  /// The figures with a goal.
  var figures: [Finding] {
    [
      ratio("enqueue_bulk.vs_pgqueuer", "jobs enqueued per second, many at once", .atLeast(3), \.bulk, .pgqueuer),
      ratio("enqueue_single.vs_pgqueuer", "the same one by one", .atLeast(1.5), \.single, .pgqueuer),
      latency(50, "median latency from the call that enqueues to the handler of an idle worker", .atMost(0.5)),
      latency(99, "99th percentile of the same latency", .atMost(1.1)),
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
          "95th percentile of the latency from the submission of a moment to its end during reprocessing",
          .atMost(1.25)),
        [Statistics(latencies.reprocessing).percentile(95) / Statistics(latencies.quiet).percentile(95)],
        details: [
          Finding.Detail("during reprocessing, ms", latencies.reprocessing, decimals: 0),
          Finding.Detail("without other work, ms", latencies.quiet, decimals: 0),
        ]),
    ]
  }

  /// The throughput, latency and database cost of each contestant.
  var observations: [Finding] {
    QueueContestant.all.flatMap { contestant in
      [
        observation(contestant, "drain", "jobs drained per second", decimals: 0, \.drain),
        observation(
          contestant, "drain_beside_snapshot", "the same while a snapshot is held", decimals: 0, \.snapshotDrain),
        observation(contestant, "enqueue_bulk", "jobs enqueued per second, many at once", decimals: 0, \.bulk),
        observation(contestant, "enqueue_single", "the same one by one", decimals: 0, \.single),
        Finding(
          Figure("queue.\(contestant.name).latency", "median latency to the handler of an idle worker, ms"),
          runs.map { $0[contestant].latency.percentile(50) },
          details: [95, 99].map { percent in
            Finding.Detail("p\(percent)", runs.map { $0[contestant].latency.percentile(percent) })
          }),
        observation(contestant, "wal_bytes", "bytes of WAL per drained job", decimals: 0, \.cost.walBytes),
        observation(contestant, "commits", "commits per drained job", decimals: 3, \.cost.commits),
        observation(contestant, "dead_tuples", "dead tuples per drained job", decimals: 2, \.cost.deadTuples),
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

  /// The latency against that of the best peer in the same run.
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

/// The results of one run, by the contestants' names.
struct QueueRun: Sendable {
  var results: [String: QueueResult] = [:]
  /// The times of take5's claims with 1,000 waiting jobs, in milliseconds.
  var claimsOfThousand = Statistics([0])
  /// The times of take5's claims with 1,000,000 waiting jobs, in milliseconds.
  var claimsOfMillion = Statistics([0])

  subscript(_ contestant: QueueContestant) -> QueueResult {
    get { results[contestant.name] ?? QueueResult() }
    set { results[contestant.name] = newValue }
  }
}

/// The results of one contestant in one run.
struct QueueResult: Sendable {
  /// Jobs enqueued per second, one after the other.
  var single = 0.0
  /// Jobs enqueued per second, many at once.
  var bulk = 0.0
  /// Jobs drained per second.
  var drain = 0.0
  /// Jobs drained per second while another connection holds a snapshot.
  var snapshotDrain = 0.0
  /// The times from the call that enqueues to the first line of the handler, in milliseconds.
  var latency = Statistics([0])
  /// The cost of a drained job.
  var cost = QueueCost(walBytes: 0, commits: 0, deadTuples: 0)
}

/// The WAL, commits and dead tuples of a database since its creation, or per job.
struct QueueCost: Sendable, Hashable {
  var walBytes: Double
  var commits: Double
  var deadTuples: Double

  /// Returns the cost per job since an earlier reading. A decrease of dead tuples counts as 0.
  func since(_ earlier: QueueCost, jobs: Int) -> QueueCost {
    QueueCost(
      walBytes: (walBytes - earlier.walBytes) / Double(jobs), commits: (commits - earlier.commits) / Double(jobs),
      deadTuples: max(0, deadTuples - earlier.deadTuples) / Double(jobs))
  }
}
