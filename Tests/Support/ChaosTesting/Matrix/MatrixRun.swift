import Glibc
import Model
import Platform

/// Runs one cell of the matrix: the victim reaches the point alone, the fault is injected there, and other processes
/// finish the jobs.
struct MatrixRun {
  let cell: MatrixCell
  let run: ChaosRun
  private let setup: MatrixSetup
  private static let timeout = Duration.seconds(30)

  /// - Parameter run: a new run.
  init(_ cell: MatrixCell, in run: ChaosRun) {
    self.cell = cell
    self.run = run
    setup = MatrixSetup(run: run)
  }

  /// Runs the cell and checks the result.
  func violations() async throws -> [String] {
    let victim = try await start()
    var violations: [String] = []
    var participants = [victim]
    if await isReached(by: victim) {
      participants += try await injectFault(into: victim)
    } else {
      violations.append("the point was not reached")
    }
    if !(await isProduced(participants)) { violations.append("a producer did not finish") }
    if !participants.dropFirst().contains(where: { $0.role == .worker }) {
      participants.append(try run.worker("rescuer"))
    }
    if !(await run.isFinished(within: Self.timeout)) { violations.append("jobs did not finish") }
    for participant in participants where await participant.end(within: Self.timeout) == nil {
      violations.append("\(participant.name) did not end")
    }
    return violations + Check.violations(in: try await run.evidence())
  }

  private func start() async throws -> Participant {
    let action =
      switch cell.fault {
      case .kill: "kill"
      case .cut: "cut"
      default: "stop"
      }
    let failpoints = [Matrix.preconditions[cell.failpoint], "\(cell.point)=\(action)"].compactMap(\.self).joined(
      separator: ",")
    switch cell.role {
    case .worker, .service, .command:
      let stops = ["queue.release", "queue.deregister"].contains(cell.failpoint)
      try await setup.prepareForWorker(stops: stops)
      return try run.worker("victim", failpoints: failpoints, mayStop: stops)
    case .producer:
      try await setup.prepareForProducer()
      return try run.producer(
        "victim", jobs: MatrixSetup.producerJobs, batch: MatrixSetup.producerBatch, operates: 1,
        seed: MatrixSetup.producerSeed, failpoints: failpoints)
    }
  }

  private func isReached(by victim: Participant) async -> Bool {
    switch cell.fault {
    case .kill: await victim.child.end(within: Self.timeout) == .killed(signal: SIGKILL)
    // The process cuts the connection and continues, which cannot be observed.
    case .cut: true
    default: await victim.child.isStopped(within: Self.timeout)
    }
  }

  /// Injects the fault while the victim is stopped, and returns the processes that were started.
  private func injectFault(into victim: Participant) async throws -> [Participant] {
    try run.record(fault: cell.fault, cell.fault == .crash ? nil : victim)
    let long = run.timing.lease * 3 / 2
    var helpers: [Participant] = []
    switch cell.fault {
    case .kill where victim.role == .producer:
      helpers.append(
        try run.producer(
          "successor", jobs: MatrixSetup.producerJobs, batch: MatrixSetup.producerBatch, operates: 1,
          seed: MatrixSetup.producerSeed + 1, predecessor: victim))
    case .freeze:
      helpers.append(try run.worker("rescuer"))
      try await Task.sleep(for: long)
      victim.child.kill(SIGCONT)
    case .terminate:
      try await run.terminate(victim)
      victim.child.kill(SIGCONT)
    case .halfOpen:
      victim.proxy?.hold()
      victim.child.kill(SIGCONT)
      helpers.append(try run.worker("rescuer"))
      try await Task.sleep(for: long)
      // The bytes that were held arrive late, or not at all.
      if cell.point.hasSuffix(".before") { victim.proxy?.release() } else { victim.proxy?.cut() }
      victim.proxy?.release()
    case .crash:
      try await run.server.crash()
      try await run.server.restart()
      victim.child.kill(SIGCONT)
    default: break
    }
    try run.record(repair: cell.fault, cell.fault == .crash ? nil : victim)
    return helpers
  }

  private func isProduced(_ participants: [Participant]) async -> Bool {
    for participant in participants where participant.role == .producer {
      guard let ending = await participant.child.end(within: Self.timeout) else { return false }
      guard ending == .exited(0) || (cell.fault == .kill && participant.name == "victim") else { return false }
    }
    return true
  }
}
