import FoundationEssentials
import Model
import Postgres

/// A filter as SQL: a branch for each table in which such jobs can lie, each by an index of its own.
///
/// Public ids grow with time, so a range of time is a range of them, and of the days of the history.
struct JobSelection {
  /// By how much the clock of whoever made an id may differ from the server's.
  private static let skew: TimeInterval = 600

  private let filter: JobFilter
  private let trustsIDs: Bool
  private(set) var parameters: [Parameter] = []

  /// - Parameter trustsIDs: whether jobs that are asked for by their ids may be looked for only since these were made.
  init(_ filter: JobFilter, trustsIDs: Bool = true) {
    self.filter = filter
    self.trustsIDs = trustsIDs
  }

  /// The jobs, the newest first.
  mutating func records() -> Statement {
    statement("jobs", order: " ORDER BY found.public_id DESC LIMIT $1", of: JobQueue.operating["jobs"].text)
  }

  /// The jobs, in no order and without a limit.
  mutating func found() -> Statement { statement("found", order: nil, of: JobQueue.operating["jobs"].text) }

  /// How many there are, whatever the limit.
  mutating func count() -> Statement {
    statement("count", order: nil, of: "SELECT count(*) AS jobs FROM (BRANCHES) AS found")
  }

  private mutating func statement(_ name: String, order: String?, of base: String) -> Statement {
    parameters = order == nil ? [] : [.integer(filter.limit)]
    let shared = sharedConditions()
    let branches = branches().map { table, own in
      let conditions = (own + shared.map { $0.replacing("ERROR", with: "last_error") }).joined(separator: " AND ")
      let text = JobQueue.operating[table].text
        .replacing("CONDITIONS", with: conditions.isEmpty ? "true" : conditions)
      return order == nil ? "(\(text))" : "(\(text) ORDER BY public_id DESC LIMIT $1)"
    }
    let text = base.replacing("BRANCHES", with: branches.joined(separator: " UNION ALL ")) + (order ?? "")
    return Statement(name: "queue.\(name)", text: text)
  }

  /// The tables, and what is asked of each alone.
  private mutating func branches() -> [(table: String, conditions: [String])] {
    var branches: [(String, [String])] = []
    func wants(_ state: JobState) -> Bool { filter.states.isEmpty || filter.states.contains(state) }
    if filter.finishedAfter == nil && filter.finishedBefore == nil {
      let live: [JobState] = [.available, .scheduled, .executing]
      if live.allSatisfy(wants) {
        branches.append(("live", []))
      } else {
        // Each by itself: the indexes of this table are of one state.
        if wants(.available) { branches.append(("live", ["state = 'a'"])) }
        if wants(.scheduled) { branches += [("live", ["state = 's'"]), ("live", ["state = 'p'"])] }
        if wants(.executing) { branches.append(("live", ["state = 'x'"])) }
      }
    }
    if wants(.completed) || wants(.cancelled) {
      var conditions = times("finished_at", filter.finishedAfter, filter.finishedBefore)
      // What began later did not end before: these days need not be opened.
      if let earliest = filter.createdAfter ?? earliestOfIDs {
        conditions.append("finished_at >= " + time(earliest - Self.skew))
      }
      if !wants(.completed) { conditions.append("outcome = 'c'") }
      if !wants(.cancelled) { conditions.append("outcome <> 'c'") }
      branches.append(("done", conditions))
    }
    if wants(.dead) { branches.append(("dead", times("died_at", filter.finishedAfter, filter.finishedBefore))) }
    // What executes has not finished: no table holds such jobs.
    return branches.isEmpty ? [("live", ["false"])] : branches
  }

  private mutating func sharedConditions() -> [String] {
    var conditions: [String] = []
    if let queue = filter.queue { conditions.append("queue = " + place(.text(queue))) }
    if let kind = filter.kind { conditions.append("kind = " + place(.text(kind))) }
    if let author = filter.author { conditions.append("author = " + place(.text(author))) }
    if let error = filter.error {
      conditions.append("strpos(lower(last_error), lower(\(place(.text(error))))) > 0")
    }
    conditions += times("created_at", filter.createdAfter, filter.createdBefore)
    if let first = filter.createdAfter { conditions.append("public_id >= " + id(first - Self.skew)) }
    // Before it ended, it was made.
    if let last = [filter.createdBefore, filter.finishedBefore].compactMap(\.self).min() {
      conditions.append("public_id < " + id(last + Self.skew))
    }
    if !filter.ids.isEmpty {
      conditions.append("public_id = ANY (\(place(.texts(filter.ids.map(\.description))))::uuid[])")
    }
    if let before = filter.before { conditions.append("public_id < \(place(.text(before.description)))::uuid") }
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
    place(.timestamp(microseconds: Int64((date.timeIntervalSince1970 * 1e6).rounded()))) + "::timestamptz"
  }

  /// The least id of a time.
  private mutating func id(_ date: Date) -> String {
    let milliseconds = UInt64(min(max(0, date.timeIntervalSince1970 * 1000), 0xFFFF_FFFF_FFFF))
    return place(.text(PublicID(high: milliseconds << 16, low: 0).description)) + "::uuid"
  }

  private mutating func place(_ parameter: Parameter) -> String {
    parameters.append(parameter)
    return "$\(parameters.count)"
  }
}
