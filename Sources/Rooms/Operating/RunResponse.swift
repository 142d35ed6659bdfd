import FoundationEssentials
internal import Model
internal import Store

/// The JSON of a reprocessing run; unknown values are null.
struct RunResponse: NilEncodable, Sendable {
  /// The numbers of items, by state.
  struct Items: Encodable, Sendable {
    let waiting: Int
    let started: Int
    let made: Int
    let skipped: Int
    let failed: Int
    let cancelled: Int
  }

  let id: PublicID
  let state: String
  let priority: Int
  let rate: Double?
  let createdAt: Date
  let endedAt: Date?
  let items: Items
  let total: Int
  let selection: RunSelectionResponse?

  init(_ run: ReprocessRun, _ counts: ReprocessCounts) {
    id = run.id
    state = Self.name(of: run.state)
    priority = run.priority
    rate = run.rate
    createdAt = run.createdAt
    endedAt = run.endedAt
    items = Items(
      waiting: counts.waiting, started: counts.started, made: counts.done, skipped: counts.skipped,
      failed: counts.failed, cancelled: counts.cancelled)
    total = counts.total
    selection = run.record.map { RunSelectionResponse($0, run) }
  }

  static func name(of state: ReprocessRun.State) -> String { state == .completed ? "finished" : state.rawValue }
}

/// What a run selects and how, with the names of the request; null is what does not limit it.
struct RunSelectionResponse: NilEncodable, Sendable {
  let kinds: [String]
  let states: [String]
  let authors: [String]
  let madeBy: String?
  let versionBelow: Int?
  let createdAfter: Date?
  let createdBefore: Date?
  let missing: Role?
  let error: String?
  let reason: ReasonCode?
  /// The number of ids that the request named.
  let ids: Int?
  let limit: Int?
  let isForced: Bool
  let keepOld: Bool

  init(_ record: ReprocessSelection.Record, _ run: ReprocessRun) {
    let selection = record.selection
    kinds = selection.kinds.map(\.rawValue).sorted()
    states = selection.statuses.map(\.rawValue).sorted()
    authors = selection.authors ?? selection.author.map { [$0] } ?? []
    madeBy = selection.definition
    versionBelow = selection.versionBelow
    createdAfter = selection.createdAfter
    createdBefore = selection.createdBefore
    missing = selection.missing
    error = selection.error
    reason = selection.reason
    ids = record.count
    limit = selection.limit
    (isForced, keepOld) = (run.isForced, run.keepsOld)
  }
}

/// The JSON of a run with its failures and its items with further attempts.
struct RunDetailResponse: NilEncodable, Sendable {
  let run: RunResponse
  let failures: [RunItemResponse]
  let retried: [RunItemResponse]

  private enum CodingKeys: CodingKey { case failures, retried }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(failures, forKey: .failures)
    try container.encode(retried, forKey: .retried)
  }
}

/// The JSON of a post or an image with the error of its last attempt.
struct RunItemResponse: Encodable, Sendable {
  let id: PublicID
  let kind: String
  let error: String

  init(_ item: (subject: Subject, error: String)) {
    id = item.subject.id
    kind =
      switch item.subject {
      case .post: "post"
      case .image: "image"
      }
    error = item.error
  }
}

/// The JSON of what a run would make.
struct RunEstimate: NilEncodable, Sendable {
  /// The items that one definition made and one would make.
  struct Part: NilEncodable, Sendable {
    /// The name and version of the definition; null: there are no outputs.
    let from: String?
    let to: String
    let kind: SubjectKind
    let items: Int
  }

  let items: Int
  let withoutSources: Int
  let definitions: [Part]
  /// The processor time, estimated from earlier jobs; null if there were none.
  let cpuSeconds: Double?

  init(_ groups: [ReprocessGroup], withoutSources: Int) {
    items = groups.subjects
    self.withoutSources = withoutSources
    definitions = groups.map { Part(from: $0.madeBy, to: $0.madeAgainBy, kind: $0.kind, items: $0.subjects) }
    cpuSeconds = groups.processorSeconds
  }
}
