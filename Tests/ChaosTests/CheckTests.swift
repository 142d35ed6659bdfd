import Model
import Testing

@testable import ChaosTesting

/// A run in which all went well, to be broken in one place at a time.
private struct Sound {
  let done: PublicID = .now()
  let failed: PublicID = .now()
  let cancelled: PublicID = .now()
  let absorbed: PublicID = .now()
  var evidence = Evidence()

  init() {
    evidence.orders = [
      JobOrder(done), JobOrder(failed), JobOrder(cancelled), JobOrder(absorbed, isAbsorbed: true),
    ]
    evidence.fates = [
      JobFate(done, .completed, token: 2, attempt: 2, lost: 1), JobFate(failed, .dead, attempt: 3, maxAttempts: 3),
      JobFate(cancelled, .cancelled),
    ]
    evidence.effects = [JobEffect(done, token: 2)]
    evidence.passages = [
      Passage(at: 0, transaction: 1, job: done, to: "a"),
      Passage(at: 10, transaction: 2, job: done, from: "a", to: "x", tokenAfter: 1, worker: 1),
      Passage(
        at: 2_000_000, transaction: 3, job: done, from: "x", to: "s", tokenBefore: 1, worker: 1, lost: 1,
        runAt: 3_000_000),
      Passage(at: 3_100_000, transaction: 4, job: done, from: "s", to: "a", lost: 1),
      Passage(at: 3_200_000, transaction: 5, job: done, from: "a", to: "x", tokenAfter: 2, worker: 2, lost: 1),
      Passage(at: 3_300_000, transaction: 6, job: done, from: "x", tokenBefore: 2, worker: 2, lost: 1),
    ]
    evidence.processes = [1: 11, 2: 12]
    add(11, 20, .began(done, token: 1, attempt: 1))
    add(1, 500_010, .fault(.kill, process: 11))
    add(12, 3_200_010, .began(done, token: 2, attempt: 2))
    add(12, 3_300_010, .finished(done, token: 2))
    for job in [done, failed, cancelled] {
      add(9, 0, .intended(job))
      add(9, 5, .enqueued(job))
    }
    add(9, 6, .absorbed(absorbed))
    add(9, 7, .cancelled(cancelled))
  }

  mutating func add(_ process: Int32, _ at: Int64, _ event: LedgerEvent) {
    evidence.ledger.append(LedgerEntry(process: process, moment: Moment(wall: at, steady: at), event: event))
  }
}

@Suite("Checks")
struct CheckTests {
  private func expect(_ check: Check, after change: (inout Sound) -> Void) {
    var run = Sound()
    #expect(Check.violations(in: run.evidence) == [])
    change(&run)
    #expect(!check.violations(run.evidence).isEmpty, "\(check.name) found nothing")
  }

  @Test("a job that is nowhere, that is not over, or that was never enqueued is lost")
  func lost() {
    expect(.nothingIsLost) { run in run.evidence.fates.removeAll { $0.job == run.failed } }
    expect(.nothingIsLost) { $0.evidence.fates[0] = JobFate($0.done, .live) }
    expect(.nothingIsLost) { $0.add(9, 9, .intended(.now())) }
  }

  @Test("a job in two places, or out of nowhere, is one too many")
  func twice() {
    expect(.nothingIsTwice) { $0.evidence.fates.append(JobFate($0.done, .dead)) }
    expect(.nothingIsTwice) { $0.evidence.fates.append(JobFate(.now(), .completed)) }
    expect(.nothingIsTwice) { $0.evidence.fates.append(JobFate($0.absorbed, .completed)) }
  }

  @Test("an effect too many, too few, of another attempt, or of a job that did not complete")
  func effects() {
    expect(.effectsMatch) { $0.evidence.effects.append($0.evidence.effects[0]) }
    expect(.effectsMatch) { $0.evidence.effects = [] }
    expect(.effectsMatch) { $0.evidence.effects = [JobEffect($0.done, token: 1)] }
    expect(.effectsMatch) { $0.evidence.effects.append(JobEffect($0.failed, token: 3)) }
    expect(.effectsMatch) { $0.evidence.effects.append(JobEffect(.now(), token: 3)) }
  }

  @Test("two attempts that were authorised at once, a token given twice, and an attempt that nobody claimed")
  func overlaps() {
    expect(.attemptsDoNotOverlap) { $0.evidence.passages.remove(at: 2) }
    expect(.attemptsDoNotOverlap) { run in
      run.evidence.passages[4] = Passage(
        at: 1_000_000, transaction: 7, job: run.done, to: "x", tokenAfter: 2, worker: 2, lost: 1)
    }
    expect(.attemptsDoNotOverlap) { run in
      run.evidence.passages += [
        Passage(at: 4_000_000, transaction: 8, job: run.done, to: "x", tokenAfter: 2, worker: 2),
        Passage(at: 4_100_000, transaction: 9, job: run.done, from: "x", tokenBefore: 2, worker: 2),
      ]
    }
    expect(.attemptsDoNotOverlap) { $0.add(12, 50, .began($0.done, token: 7, attempt: 1)) }
    var run = Sound()
    run.add(12, 50, .began(run.done, token: 7, attempt: 1))
    run.add(1, 60, .fault(.crash, process: 0))
    #expect(Check.violations(in: run.evidence) == [], "a claim that a crash forgot")
  }

  @Test("what a process was told and is not so")
  func said() {
    expect(.whatWasSaidHolds) { $0.add(9, 9, .enqueued(.now())) }
    expect(.whatWasSaidHolds) { $0.add(9, 9, .enqueued($0.absorbed)) }
    expect(.whatWasSaidHolds) { $0.add(9, 9, .absorbed($0.done)) }
    expect(.whatWasSaidHolds) { $0.add(9, 9, .cancelled($0.done)) }
    expect(.whatWasSaidHolds) { $0.add(12, 9, .finished($0.done, token: 1)) }
  }

  @Test("a job that became available before its time")
  func early() {
    expect(.nothingBeginsEarly) { run in
      run.evidence.passages[3] = Passage(
        at: 2_900_000, transaction: 4, job: run.done, from: "s", to: "a", lost: 1, runAt: 3_000_000)
    }
  }

  @Test("a time of the calendar that was not fired, or twice")
  func calendar() {
    expect(.theCalendarIsKept) { $0.evidence.firings = 1 }
    expect(.theCalendarIsKept) { run in
      run.evidence.firings = 1
      for _ in 0..<2 { run.evidence.fates.append(JobFate(.now(), .rejected, isOfCron: true)) }
    }
  }

  @Test("a job that was given up too early")
  func dead() {
    expect(.theDeadHadTheirChance) { $0.evidence.fates[1] = JobFate($0.failed, .dead, attempt: 2, maxAttempts: 3) }
  }

  @Test("recovery counts from the fault to the next claim, less the pause that was meant")
  func recovery() {
    var run = Sound()
    let recovery = Recovery(run.evidence)
    // 1.49999 s until it was taken, and 0.2 s from the end of the pause to the claim.
    #expect(recovery.seconds == [1.69999])
    #expect(recovery.untouched == 0)
    #expect(recovery.quantile(0.99) == 1.69999)
    run.add(1, 600_000, .fault(.crash, process: 0))
    run.add(1, 1_600_000, .relief(.crash, process: 0))
    #expect(Recovery(run.evidence).seconds == [0.69999])
    // Neither to its worker nor to the database was anything done.
    run.evidence.ledger.removeAll { if case .fault = $0.event { true } else { false } }
    #expect(Recovery(run.evidence).untouched == 1)
  }

  @Test("a handler that goes on without authority is noticed, and whether it could know")
  func overrun() {
    var run = Sound()
    #expect(Overrun(run.evidence) == Overrun(.init()))
    run.add(11, 2_500_000, .left(run.done, token: 1))
    #expect(Overrun(run.evidence).awake == 1)
    #expect(Overrun(run.evidence).longest == 0.5)
    run.add(1, 400_000, .fault(.freeze, process: 11))
    #expect(Overrun(run.evidence).frozen == 1)
    #expect(Overrun(run.evidence).awake == 0)
  }
}
