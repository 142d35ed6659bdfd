import Model
import Platform
import PostgresTesting
import Testing

@testable import ChaosTesting

/// The evidence of a valid run, into which each test introduces one violation.
private struct ValidRun {
  let done: PublicID = .now()
  let failed: PublicID = .now()
  let cancelled: PublicID = .now()
  let absorbed: PublicID = .now()
  var evidence = Evidence()

  init() {
    evidence.orders = [
      JobOrder(job: done), JobOrder(job: failed), JobOrder(job: cancelled), JobOrder(job: absorbed, isAbsorbed: true),
    ]
    evidence.outcomes = [
      JobOutcome(job: done, state: .completed, token: 2, attempt: 2, lost: 1),
      JobOutcome(job: failed, state: .dead, attempt: 3, maxAttempts: 3),
      JobOutcome(job: cancelled, state: .cancelled),
    ]
    evidence.effects = [JobEffect(job: done, token: 2)]
    evidence.transitions = [
      Transition(at: 0, transaction: 1, job: done, to: "a"),
      Transition(at: 10, transaction: 2, job: done, from: "a", to: "x", tokenAfter: 1, worker: 1),
      Transition(
        at: 2_000_000, transaction: 3, job: done, from: "x", to: "s", tokenBefore: 1, worker: 1, lost: 1,
        runAt: 3_000_000),
      Transition(at: 3_100_000, transaction: 4, job: done, from: "s", to: "a", lost: 1),
      Transition(at: 3_200_000, transaction: 5, job: done, from: "a", to: "x", tokenAfter: 2, worker: 2, lost: 1),
      Transition(at: 3_300_000, transaction: 6, job: done, from: "x", tokenBefore: 2, worker: 2, lost: 1),
    ]
    evidence.processes = [1: 11, 2: 12]
    add(11, 20, .started(done, token: 1, attempt: 1))
    add(1, 500_010, .fault(.kill, process: 11))
    add(12, 3_200_010, .started(done, token: 2, attempt: 2))
    add(12, 3_300_010, .committed(done, token: 2))
    for job in [done, failed, cancelled] {
      add(9, 0, .intended(job))
      add(9, 5, .enqueued(job))
    }
    add(9, 6, .absorbed(absorbed))
    add(9, 7, .cancelled(cancelled))
  }

  mutating func add(_ process: Int32, _ at: Int64, _ event: LedgerEvent) {
    evidence.ledger.append(LedgerEntry(process: process, time: ClockReading(wall: at, monotonic: at), event: event))
  }
}

@Suite("checks of a run")
struct CheckTests {
  private func expect(_ check: Check, after change: (inout ValidRun) -> Void) {
    var run = ValidRun()
    #expect(Check.violations(in: run.evidence) == [])
    change(&run)
    #expect(!check.violations(run.evidence).isEmpty, "\(check.name) found nothing")
  }

  @Test("a job that does not exist, is unfinished, or was not enqueued is lost")
  func lost() {
    expect(.noJobIsLost) { run in run.evidence.outcomes.removeAll { $0.job == run.failed } }
    expect(.noJobIsLost) { $0.evidence.outcomes[0] = JobOutcome(job: $0.done, state: .unfinished) }
    expect(.noJobIsLost) { $0.add(9, 9, .intended(.now())) }
  }

  @Test("rows that something waits for are a violation")
  func waiting() {
    expect(.nothingWaits) { $0.evidence.waiting = ["1 rows of job_progress wait for something"] }
  }

  @Test("a job that exists twice, or was not enqueued, is a violation")
  func twice() {
    expect(.noJobIsDuplicated) { $0.evidence.outcomes.append(JobOutcome(job: $0.done, state: .dead)) }
    expect(.noJobIsDuplicated) { $0.evidence.outcomes.append(JobOutcome(job: .now(), state: .completed)) }
    expect(.noJobIsDuplicated) { $0.evidence.outcomes.append(JobOutcome(job: $0.absorbed, state: .completed)) }
  }

  @Test("a duplicate or missing effect, or one of another attempt or of a job that did not complete, is a violation")
  func effects() {
    expect(.effectsMatch) { $0.evidence.effects.append($0.evidence.effects[0]) }
    expect(.effectsMatch) { $0.evidence.effects = [] }
    expect(.effectsMatch) { $0.evidence.effects = [JobEffect(job: $0.done, token: 1)] }
    expect(.effectsMatch) { $0.evidence.effects.append(JobEffect(job: $0.failed, token: 3)) }
    expect(.effectsMatch) { $0.evidence.effects.append(JobEffect(job: .now(), token: 3)) }
  }

  @Test("overlapping attempts, equal tokens, and an attempt without a claim are violations")
  func overlaps() {
    expect(.attemptsDoNotOverlap) { $0.evidence.transitions.remove(at: 2) }
    expect(.attemptsDoNotOverlap) { run in
      run.evidence.transitions[4] = Transition(
        at: 1_000_000, transaction: 7, job: run.done, to: "x", tokenAfter: 2, worker: 2, lost: 1)
    }
    expect(.attemptsDoNotOverlap) { run in
      run.evidence.transitions += [
        Transition(at: 4_000_000, transaction: 8, job: run.done, to: "x", tokenAfter: 2, worker: 2),
        Transition(at: 4_100_000, transaction: 9, job: run.done, from: "x", tokenBefore: 2, worker: 2),
      ]
    }
    expect(.attemptsDoNotOverlap) { $0.add(12, 50, .started($0.done, token: 7, attempt: 1)) }
  }

  @Test("an acknowledged change that does not exist is a violation")
  func acknowledgements() {
    expect(.acknowledgementsHold) { $0.add(9, 9, .enqueued(.now())) }
    expect(.acknowledgementsHold) { $0.add(9, 9, .enqueued($0.absorbed)) }
    expect(.acknowledgementsHold) { $0.add(9, 9, .absorbed($0.done)) }
    expect(.acknowledgementsHold) { $0.add(9, 9, .cancelled($0.done)) }
    expect(.acknowledgementsHold) { $0.add(12, 9, .committed($0.done, token: 1)) }
  }

  @Test("a job that becomes available before its time is a violation")
  func early() {
    expect(.noJobStartsEarly) { run in
      run.evidence.transitions[3] = Transition(
        at: 2_900_000, transaction: 4, job: run.done, from: "s", to: "a", lost: 1, runAt: 3_000_000)
    }
  }

  @Test("a job that is dead before its attempts are used is a violation")
  func dead() {
    expect(.deadJobsUsedTheirAttempts) {
      $0.evidence.outcomes[1] = JobOutcome(job: $0.failed, state: .dead, attempt: 2, maxAttempts: 3)
    }
  }

  @Test("recovery is the time from the fault to the next claim, without the intended pause")
  func recovery() {
    var run = ValidRun()
    let recovery = Recovery(run.evidence)
    // 1.49999 s until the job was reaped, and 0.2 s from the end of the pause to the claim.
    #expect(recovery.seconds == [1.69999])
    #expect(recovery.quantile(0.99) == 1.69999)
    run.add(1, 600_000, .fault(.crash, process: 0))
    run.add(1, 1_600_000, .repaired(.crash, process: 0))
    #expect(Recovery(run.evidence).seconds == [0.69999])
  }

  @Test("a handler that continues without authority is counted, separately for frozen processes")
  func overrun() {
    var run = ValidRun()
    #expect(Overrun(run.evidence) == Overrun(.init()))
    run.add(11, 2_500_000, .returned(run.done, token: 1))
    #expect(Overrun(run.evidence).running == 1)
    run.add(1, 400_000, .fault(.freeze, process: 11))
    #expect(Overrun(run.evidence).frozen == 1)
    #expect(Overrun(run.evidence).running == 0)
  }
}

struct LedgerTests {
  @Test("written events are read in the order of time, without an incomplete line")
  func roundTrip() throws {
    let folder = try TemporaryFolder(prefix: "take5-ledger")
    let job = PublicID.now()
    let events: [LedgerEvent] = [
      .intended(job), .enqueued(job), .absorbed(job), .cancelled(job), .started(job, token: -3, attempt: 2),
      .returned(job, token: 4), .committed(job, token: 5), .exited, .fault(.halfOpen, process: 7),
      .repaired(.crash, process: 0),
    ]
    let ledgers = [try Ledger("\(folder.path)/a.ledger"), try Ledger("\(folder.path)/b.ledger")]
    for (index, event) in events.enumerated() { try ledgers[index % 2].write(event) }
    let line = #"{"process":77,"time":{"wall":1,"monotonic":2},"event":{"exited":{}}}"#
    try Descriptor(writing: "\(folder.path)/c.ledger", replacing: true).write(
      Array("\(line)\n\(line.dropLast(9))".utf8))
    let read = try Ledger.read(folder: folder.path)
    #expect(read.dropFirst().map(\.event) == events)
    #expect(read.first?.process == 77)
  }

  @Test("an invalid ledger is refused")
  func invalidLedger() throws {
    let folder = try TemporaryFolder(prefix: "take5-ledger")
    try Descriptor(writing: "\(folder.path)/a.ledger", replacing: true).write(Array("{}\n".utf8))
    #expect(throws: (any Error).self) { try Ledger.read(folder: folder.path) }
  }
}
