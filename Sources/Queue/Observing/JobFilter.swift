package import FoundationEssentials
package import Model
import Postgres

/// A selection of jobs, newest first: a property that is nil or empty matches every job.
package struct JobFilter: Sendable, Hashable {
  package var states: Set<JobState>
  package var queue: String?
  package var kind: String?
  package var author: String?
  /// A text that the last error contains; case-insensitive.
  package var error: String?
  /// Inclusive.
  package var createdAfter: Date?
  /// Exclusive.
  package var createdBefore: Date?
  /// Inclusive; matches only jobs that have ended.
  package var finishedAfter: Date?
  /// Exclusive; matches only jobs that have ended.
  package var finishedBefore: Date?
  /// Exclusive; leaves out jobs that were created or died later. A filter selects the same jobs again as long as they match.
  package var asOf: Date?
  package var ids: [PublicID]
  /// The last job of the previous page: matches only jobs that are older.
  package var before: PublicID?
  package var limit: Int

  package init(
    states: Set<JobState> = [], kind: String? = nil, author: String? = nil, ids: [PublicID] = [],
    before: PublicID? = nil, limit: Int = 20
  ) {
    self.states = states
    self.kind = kind
    self.author = author
    self.ids = ids
    self.before = before
    self.limit = limit
  }
}

/// A filter as SQL: one branch for each table that can contain matching jobs, so that each uses an index of its table.
///
/// Public ids grow with time, so that a range of times is also a range of ids and of partitions of the history.
struct JobSelection {
  /// The largest difference between the clock that made an id and the server's, in seconds.
  private static let skew: TimeInterval = 600

  private let filter: JobFilter
  private let trustsIDs: Bool
  private(set) var parameters: [Parameter] = []

  /// - Parameter trustsIDs: whether the times in the ids limit the part of the history that is searched.
  init(_ filter: JobFilter, trustsIDs: Bool = true) {
    self.filter = filter
    self.trustsIDs = trustsIDs
  }

  /// The statement for the jobs, newest first.
  mutating func records() -> Statement {
    parameters = [.integer(filter.limit)]
    let branches = branches { "(\($0) ORDER BY public_id DESC LIMIT $1)" }
    return JobQueue.observing["jobs"].filled(
      "list", ["branches": branches, "order": "ORDER BY found.public_id DESC LIMIT $1"])
  }

  /// The statement for the jobs, unordered and without a limit.
  mutating func found() -> Statement {
    parameters = []
    return JobQueue.observing["jobs"].filled("found", ["branches": branches { "(\($0))" }, "order": ""])
  }

  /// The statement for one job, and its parameters. The text is always the same, and is made once.
  static func found(_ id: PublicID) -> (Statement, [Parameter]) {
    let earliest = id.seconds - skew
    return (one, [.text(id.description), .timestamp(microseconds: Int64((earliest * 1e6).rounded()))])
  }

  private static let one: Statement = {
    var selection = JobSelection(JobFilter(ids: [.now()]))
    return selection.found()
  }()

  /// The statement for the number of jobs; the limit is ignored.
  mutating func count() -> Statement {
    parameters = []
    return JobQueue.observing["count"].filled("found", ["branches": branches { "(\($0))" }])
  }

  /// The text for all tables to search; `limited` completes that for one table.
  private mutating func branches(_ limited: (String) -> String) -> String {
    let shared = sharedConditions()
    return branches().map { branch, own in
      let conditions = (own + shared).joined(separator: " AND ")
      return limited(branch.filled("found", ["conditions": conditions.isEmpty ? "true" : conditions]).text)
    }.joined(separator: " UNION ALL ")
  }

  /// A branch for each table to search, with the conditions that apply to this table only.
  private mutating func branches() -> [(Statement, conditions: [String])] {
    let (live, dead) = (JobQueue.observing["live"], JobQueue.observing["dead"])
    var branches: [(Statement, [String])] = []
    func wants(_ state: JobState) -> Bool { filter.states.isEmpty || filter.states.contains(state) }
    if filter.finishedAfter == nil && filter.finishedBefore == nil {
      if [.available, .scheduled, .executing].allSatisfy(wants) {
        branches.append((live, []))
      } else {
        // A branch for each state: the indexes of this table are partial, for one state each.
        if wants(.available) { branches.append((live, ["state = 'a'"])) }
        if wants(.scheduled) { branches += [(live, ["state = 's'"]), (live, ["state = 'p'"])] }
        if wants(.executing) { branches.append((live, ["state = 'x'"])) }
      }
    }
    if wants(.completed) || wants(.cancelled) {
      var conditions = times("finished_at", filter.finishedAfter, filter.finishedBefore)
      // A job does not end before it is created: earlier partitions can be pruned.
      if let earliest = filter.createdAfter ?? earliestOfIDs {
        conditions.append("finished_at >= " + time(earliest - Self.skew))
      }
      if !wants(.completed) { conditions.append("outcome = 'c'") }
      if !wants(.cancelled) { conditions.append("outcome <> 'c'") }
      branches.append((JobQueue.observing["done"], conditions))
    }
    if wants(.dead) {
      let end = [filter.finishedBefore, filter.asOf].compactMap(\.self).min()
      branches.append((dead, times("died_at", filter.finishedAfter, end)))
    }
    // A live job with a time of its end: no table contains such jobs.
    return branches.isEmpty ? [(live, ["false"])] : branches
  }

  private mutating func sharedConditions() -> [String] {
    var conditions: [String] = []
    if let queue = filter.queue { conditions.append("queue = " + parameter(.text(queue))) }
    if let kind = filter.kind { conditions.append("kind = " + parameter(.text(kind))) }
    if let author = filter.author { conditions.append("author = " + parameter(.text(author))) }
    if let error = filter.error {
      conditions.append("strpos(lower(last_error), lower(\(parameter(.text(error))))) > 0")
    }
    let end = [filter.createdBefore, filter.asOf].compactMap(\.self).min()
    conditions += times("created_at", filter.createdAfter, end)
    if let first = filter.createdAfter { conditions.append("public_id >= " + id(first - Self.skew)) }
    // A job is created before it ends.
    if let last = [end, filter.finishedBefore].compactMap(\.self).min() {
      conditions.append("public_id < " + id(last + Self.skew))
    }
    if filter.ids.count == 1 {
      // The server keeps the plan of this statement. For a list, it makes a new one each time, which takes longer than the rest.
      conditions.append("public_id = \(parameter(.text(filter.ids[0].description)))::uuid")
    } else if !filter.ids.isEmpty {
      conditions.append("public_id = ANY (\(parameter(.texts(filter.ids.map(\.description))))::uuid[])")
    }
    if let before = filter.before { conditions.append("public_id < \(parameter(.text(before.description)))::uuid") }
    return conditions
  }

  private var earliestOfIDs: Date? {
    trustsIDs ? filter.ids.min().map { Date(timeIntervalSince1970: $0.seconds) } : nil
  }

  private mutating func times(_ column: String, _ first: Date?, _ end: Date?) -> [String] {
    var conditions: [String] = []
    if let first { conditions.append("\(column) >= " + time(first)) }
    if let end { conditions.append("\(column) < " + time(end)) }
    return conditions
  }

  private mutating func time(_ date: Date) -> String {
    parameter(.timestamp(microseconds: date.microseconds)) + "::timestamptz"
  }

  /// The smallest id of a time.
  private mutating func id(_ date: Date) -> String {
    let milliseconds = UInt64(min(max(0, date.timeIntervalSince1970 * 1000), 0xFFFF_FFFF_FFFF))
    return parameter(.text(PublicID(high: milliseconds << 16, low: 0).description)) + "::uuid"
  }

  private mutating func parameter(_ value: Parameter) -> String {
    parameters.append(value)
    return "$\(parameters.count)"
  }
}
