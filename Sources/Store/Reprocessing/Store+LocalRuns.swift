import Crypto
import Model
package import Postgres

/// Local runs, whose items the command itself carries out.
extension Store {
  /// Lets the items that a dead process had taken wait again; whatever that process still writes is rolled back.
  package func resume(local run: ReprocessRun, _ session: Session) throws(PostgresError) {
    try session.execute(Self.runStatements["take_back_items"], .integer(run.number))
  }

  /// Takes the next item; nil if none waits, or the run is paused or over.
  package func takeItem(of run: ReprocessRun, _ session: Session) throws -> LocalItem? {
    let job = PublicID.now()
    let rows = try session.execute(
      Self.runStatements["take_item"], .integer(run.number), .text(job.description))
    guard let row = rows.first else { return nil }
    guard let definition = SHA256Digest(bytes: try row.get("definition")) else { throw StoreError.noDefinition(job) }
    return LocalItem(job: job, subject: try Self.subject(row), definition: definition)
  }

  /// What an item is about, and what its subject has now, as of one moment; nil if it is over.
  package func work(for item: LocalItem, _ session: Session) throws -> Work? {
    try session.snapshot { session in
      try workAgain(on: item.subject, by: item.definition, job: item.job, session)
    }
  }

  /// Ends the run if nothing of it is left.
  package func complete(local run: ReprocessRun, _ session: Session) throws(PostgresError) {
    try session.execute(Self.runStatements["complete_run"], .integer(run.number))
  }
}
