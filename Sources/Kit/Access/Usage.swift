import CKitSQL
package import Postgres
package import Queue
package import Store

/// How much a sender may send on a day in UTC; nil: without a limit.
package struct DailyQuota: Sendable, Hashable {
  package var posts: Int?
  /// The bytes of media.
  package var bytes: Int64?

  package init(posts: Int? = nil, bytes: Int64? = nil) {
    self.posts = posts
    self.bytes = bytes
  }

  package static let unlimited = DailyQuota()

  /// Whether a sender that has sent `sent` today may send more.
  package func permits(_ more: DailyUsage, after sent: DailyUsage) -> Bool {
    // None of the numbers is negative, so that no difference overflows.
    posts.map { more.posts <= $0 - sent.posts } ?? true && bytes.map { more.bytes <= $0 - sent.bytes } ?? true
  }
}

/// What a sender has sent on a day.
package struct DailyUsage: Sendable, Hashable {
  package var posts: Int
  package var bytes: Int64

  package init(posts: Int = 0, bytes: Int64 = 0) {
    self.posts = posts
    self.bytes = bytes
  }
}

/// Counting for quotas. A sender is a user or an API key.
package enum Usage: Room {
  package static let statements = Statements(topic: "usage", KitSQL.Usage)

  package static var maintenance: [MaintenanceTask] {
    [MaintenanceTask("usage", every: .seconds(3600)) { pool in try await pool.run { session in try dropOld(session) } }]
  }

  package static var forgetting: [ForgettingStep] { [ForgettingStep(atEnd: statements["drop_usage"])] }

  /// The name of a user as a sender.
  package static func sender(ofUser user: String) -> String { "user:" + user }

  /// The name of an API key as a sender.
  package static func sender(ofKey key: String) -> String { "key:" + key }

  /// Counts what a sender sends, in the caller's transaction; false if the quota would be passed, and then nothing is counted.
  package static func charge(
    _ sender: String, _ usage: DailyUsage, quota: DailyQuota, _ session: Session
  ) throws(PostgresError) -> Bool {
    try !session.execute(
      Self.statements["charge"], .text(sender), .integer(usage.posts), .integer(usage.bytes),
      .integer(quota.posts.map(Int64.init)), .integer(quota.bytes)
    ).isEmpty
  }

  /// Returns what a sender has sent today.
  package static func today(of sender: String, _ session: Session) throws(PostgresError) -> DailyUsage {
    guard let row = try session.execute(Self.statements["usage_today"], .text(sender)).first else {
      return DailyUsage()
    }
    return DailyUsage(posts: try row.get("posts"), bytes: try row.get("bytes"))
  }

  /// Deletes what was sent on days that no quota asks for.
  package static func dropOld(_ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["drop_old_usage"])
  }
}
