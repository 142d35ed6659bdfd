import Glibc
import Model
import Platform

/// One cell of the matrix, carried out: the victim comes to its point alone, the fault happens there, others end the work.
package struct MatrixRun {
  /// What came of it.
  package struct Outcome: Sendable {
    package let cell: MatrixCell
    /// Empty when all is well.
    package let violations: [String]
    package let recovery: [Double]
    /// How long it took.
    package let duration: Duration
  }

  let cell: MatrixCell
  let run: ChaosRun
  private let scene: MatrixScene
  // Whatever takes longer has come to a standstill.
  private static let timeout = Duration.seconds(30)

  /// - Parameter run: a fresh one.
  package init(_ cell: MatrixCell, in run: ChaosRun) {
    self.cell = cell
    self.run = run
    scene = MatrixScene(run: run)
  }

  /// Carries it out, and checks what is left.
  package func outcome() async throws -> Outcome {
    let began = ContinuousClock.now
    let victim = try await start()
    var violations: [String] = []
    var members = [victim]
    if await isReached(by: victim) {
      members += try await breakIt(victim)
    } else {
      violations.append("the point was not reached")
    }
    if !(await isProduced(members)) { violations.append("a producer came to a standstill") }
    if !members.dropFirst().contains(where: { $0.role == .worker }) { members.append(try run.worker("rescuer")) }
    if !(await run.isOver(within: Self.timeout)) { violations.append("jobs came to a standstill") }
    for member in members where await member.end(within: Self.timeout) == nil {
      violations.append("\(member.name) did not end")
    }
    let evidence = try await run.evidence()
    violations += Check.violations(in: evidence)
    return Outcome(
      cell: cell, violations: violations, recovery: Recovery(evidence).seconds,
      duration: began.duration(to: .now))
  }

  private func start() async throws -> Member {
    let action =
      switch cell.fault {
      case .kill: "kill"
      case .cut: "cut"
      default: "stop"
      }
    let failpoints = [Matrix.conditions[cell.act], "\(cell.point)=\(action)"].compactMap(\.self).joined(separator: ",")
    switch cell.role {
    case .worker, .service, .command:
      let drains = ["queue.release", "queue.deregister"].contains(cell.act)
      try await scene.prepareForWorker(drains: drains)
      return try run.worker("victim", failpoints: failpoints, mayDrain: drains)
    case .producer:
      try await scene.prepareForProducer()
      return try run.producer(
        "victim", jobs: MatrixScene.producerJobs, batch: MatrixScene.producerBatch, operates: 1,
        seed: MatrixScene.producerSeed, failpoints: failpoints)
    }
  }

  private func isReached(by victim: Member) async -> Bool {
    switch cell.fault {
    case .kill: await victim.child.end(within: Self.timeout) == .killed(signal: SIGKILL)
    // It happens without anybody's help, and nothing tells of it.
    case .cut: true
    default: await victim.child.isStopped(within: Self.timeout)
    }
  }

  /// Does what is to be done while the victim stands still; who came to help.
  private func breakIt(_ victim: Member) async throws -> [Member] {
    try run.note(fault: cell.fault, cell.fault == .crash ? nil : victim)
    let long = run.times.lease * 3 / 2
    var helpers: [Member] = []
    switch cell.fault {
    case .kill where victim.role == .producer:
      helpers.append(
        try run.producer(
          "successor", jobs: MatrixScene.producerJobs, batch: MatrixScene.producerBatch, operates: 1,
          seed: MatrixScene.producerSeed + 1, heir: victim))
    case .kill, .cut, .drain: break
    // Of the storms over the real programs alone.
    case .killMedia, .roll, .storageFull, .storageReadOnly, .storageGone, .databaseReadOnly, .owner: break
    case .freeze:
      helpers.append(try run.worker("rescuer"))
      try await Task.sleep(for: long)
      victim.child.kill(SIGCONT)
    case .terminate:
      try await run.terminate(victim)
      victim.child.kill(SIGCONT)
    case .halfOpen:
      victim.proxy.hold()
      victim.child.kill(SIGCONT)
      helpers.append(try run.worker("rescuer"))
      try await Task.sleep(for: long)
      // What was held arrives after all, or never.
      if cell.point.hasSuffix(".before") { victim.proxy.release() } else { victim.proxy.cut() }
      victim.proxy.release()
    case .crash:
      try await run.server.crash()
      try await run.server.restart()
      victim.child.kill(SIGCONT)
    }
    try run.note(relief: cell.fault, cell.fault == .crash ? nil : victim)
    return helpers
  }

  private func isProduced(_ members: [Member]) async -> Bool {
    for member in members where member.role == .producer {
      guard let ending = await member.child.end(within: Self.timeout) else { return false }
      guard ending == .exited(0) || (cell.fault == .kill && member.name == "victim") else { return false }
    }
    return true
  }
}
