import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("The queue and its pure state machine", .tags(.database))
struct ModelTests {
  @Test("go through the same random events to the same states", arguments: UInt64(1)...12)
  func agree(_ seed: UInt64) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run { session in
        let model = try QueueModel(seed: seed, session)
        for _ in 0..<150 { try model.step() }
      }
      await pool.close()
    }
  }

  @Test("what is over stays over, but for the dead, who may be tried again")
  func ends() throws {
    var life = JobLife(maxAttempts: 1)
    life = try #require(life.after(.claimed))
    let completed = try #require(life.after(.completed))
    for event in JobLife.Event.allCases { #expect(completed.after(event) == nil) }
    let dead = try #require(life.after(.buried))
    #expect(dead.after(.retriedNow)?.state == .available)
    #expect(JobLife.Event.allCases.filter { dead.after($0) != nil } == [.retriedNow])
  }

  @Test("a job that costs one worker after the other is dead, whatever attempts it has left")
  func poison() throws {
    var life = JobLife(maxAttempts: 99)
    for _ in 0..<FaultPolicy().maxBlamed {
      if life.place == .scheduled { life = try #require(life.after(.due)) }
      life = try #require(life.after(.claimed)?.after(.blamed))
    }
    #expect(life.place == .dead)
  }
}
