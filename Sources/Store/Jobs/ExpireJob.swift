package import Postgres
package import Queue

/// The arguments of a job that deletes the expired replies to requests with an idempotency key.
package struct ExpireJob: TaskJob {
  package static let kind = "expire"
  package static let abstract = "deletes expired replies"
  package static let example = "{}"
  package static let remedy = "write {}"

  package func perform(_ job: ClaimedJob, in store: Store, _ session: Session) throws {
    while try store.dropExpiredResponses(session) > 0 {}
  }
}
