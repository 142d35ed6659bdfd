import FoundationEssentials
internal import HTTPServer
internal import Model
package import Postgres
import Store

/// What a user, and an API key, may send on a day in UTC. Without quotas the database is not asked.
package struct Quotas: Sendable, Hashable {
  /// The quota of a user.
  package var user = DailyQuota.unlimited
  /// The quota of an API key, and of the tokens that it has minted together.
  package var key = DailyQuota.unlimited

  package init() {}

  package var hasAny: Bool { user != .unlimited || key != .unlimited }

  /// A sender of a request, with its quota.
  package struct Sender: Sendable, Hashable {
    let name: String
    let quota: DailyQuota
    /// For people.
    let description: String
  }

  /// The senders of a request that have a quota.
  ///
  /// - Parameter author: the user whom a submission names, if the client acts as no user.
  package func senders(_ caller: Caller, author: String?) -> [Sender] {
    var senders: [Sender] = []
    if key != .unlimited {
      senders.append(Sender(name: Usage.sender(ofKey: caller.tenant), quota: key, description: "The API key"))
    }
    if user != .unlimited, let author = caller.user ?? author {
      senders.append(Sender(name: Usage.sender(ofUser: author), quota: user, description: "The user '\(author)'"))
    }
    return senders
  }

  /// Counts what the senders send; throws a problem with status 429 if the quota of one would be passed. The caller's
  /// transaction rolls back then.
  package static func charge(_ senders: [Sender], _ usage: DailyUsage, _ session: Session) throws {
    // In one order, so that two transactions never wait for each other.
    for sender in senders.sorted(by: { $0.name < $1.name }) {
      guard try Usage.charge(sender.name, usage, quota: sender.quota, session) else { throw exceeded(sender) }
    }
  }

  /// Throws a problem with status 429 if the quota of a sender does not permit what it is about to send.
  package static func check(_ senders: [Sender], _ usage: DailyUsage, _ session: Session) throws {
    for sender in senders where !sender.quota.permits(usage, after: try Usage.today(of: sender.name, session)) {
      throw exceeded(sender)
    }
  }

  private static func exceeded(_ sender: Sender) -> Problem {
    let limits = [
      sender.quota.posts.map { CountText.text($0, "post") }, sender.quota.bytes.map { "\($0) bytes of media" },
    ].compactMap { $0 }.joined(separator: " and ")
    let rest = 86_400 - Int(Date.now.timeIntervalSince1970) % 86_400
    return ProblemKind.quotaExceeded.problem(
      "\(sender.description) may send \(limits) a day, in UTC.", headers: ["Retry-After": "\(rest)"])
  }
}
