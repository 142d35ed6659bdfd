import Model
import Platform
import PostgresTesting
import Testing

@testable import ChaosTesting

struct LedgerTests {
  @Test("what was written is read, in the order of time; an unfinished line is not")
  func roundTrip() throws {
    let folder = try TemporaryFolder(prefix: "take5-ledger")
    let job = PublicID.now()
    let events: [LedgerEvent] = [
      .intended(job), .enqueued(job), .absorbed(job), .cancelled(job), .began(job, token: -3, attempt: 2),
      .left(job, token: 4), .finished(job, token: 5), .ended, .fault(.halfOpen, process: 7),
      .relief(.crash, process: 0),
    ]
    let ledgers = [try Ledger("\(folder.path)/a.ledger"), try Ledger("\(folder.path)/b.ledger")]
    for (place, event) in events.enumerated() { try ledgers[place % 2].write(event) }
    try Descriptor(writing: "\(folder.path)/c.ledger", replacing: true).write(
      Array("77 1 2 ended\n78 3 4 began 0".utf8))
    let read = try Ledger.read(folder: folder.path)
    #expect(read.dropFirst().map(\.event) == events)
    #expect(read.first?.process == 77)
  }

  @Test func refusesWhatIsNoLedger() throws {
    let folder = try TemporaryFolder(prefix: "take5-ledger")
    try Descriptor(writing: "\(folder.path)/a.ledger", replacing: true).write(Array("7 1 2 slept\n".utf8))
    #expect(throws: SystemError.self) { try Ledger.read(folder: folder.path) }
  }
}
