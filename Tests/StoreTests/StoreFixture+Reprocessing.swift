import Blobs
import Crypto
import Definitions
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

/// Runs that make outputs again.
extension StoreFixture {
  /// Submits a post and publishes its outputs.
  func ready(
    _ text: String, author: String = "ada", adjusting: @Sendable (inout Definition) -> Void = { _ in }
  ) async throws -> PublicID {
    let post = try await submit("\(text) front", "\(text) back", draft: PostDraft(author: author), adjusting: adjusting)
    try await publish(claim(), text)
    return post
  }

  func startRun(_ change: (inout ReprocessRequest) -> Void = { _ in }) async throws -> PublicID {
    var request = try request(ReprocessSelection())
    change(&request)
    let run = try await pool.transaction { [request] in try Reprocessing.create(request, $0) }
    return try #require(run)
  }

  private func request(_ selection: ReprocessSelection) throws -> ReprocessRequest {
    var definition = try Definitions.take5Post()
    definition.version += 1
    return ReprocessRequest(selection, definitions: [.take5: [try StoredDefinition(definition)]])
  }

  func summarize(_ selection: ReprocessSelection) async throws -> [ReprocessGroup] {
    let request = try request(selection)
    return try await pool.run { try Reprocessing.summarize(request, $0) }
  }

  func withoutSources() async throws -> Int {
    let request = try request(ReprocessSelection())
    return try await pool.run { try Reprocessing.countWithoutSources(request, $0) }
  }

  @discardableResult
  func schedule() async throws -> Int {
    try await pool.transaction { try Reprocessing.schedule($0) ?? 0 }
  }

  func execute(_ statement: Statement) async throws {
    try await pool.run { session in _ = try session.execute(statement) }
  }

  func run(_ id: PublicID) async throws -> ReprocessRun {
    let run = try await pool.run { try Reprocessing.find(id, $0) }
    return try #require(run)
  }

  func state(_ id: PublicID) async throws -> ReprocessRun.State { try await run(id).state }

  func change(_ id: PublicID, to state: ReprocessRun.State) async throws -> Bool {
    let run = try await run(id)
    return try await pool.transaction { try Reprocessing.change(run, to: state, $0) }
  }

  func counts(_ id: PublicID) async throws -> ReprocessCounts {
    let run = try await run(id)
    return try await pool.run { try Reprocessing.counts(of: run, $0) }
  }

  func failures(_ id: PublicID) async throws -> [(id: PublicID, error: String)] {
    let run = try await run(id)
    return try await pool.run {
      try Reprocessing.failures(of: run, limit: 10, $0).map { ($0.subject.id, $0.error) }
    }
  }

  func asset(_ id: PublicID) async throws -> StoredAsset? {
    try await pool.run { try Assets.find(id, for: .unrestricted, $0) }
  }

  func dropRetired(after age: Duration) async throws -> Int {
    try await pool.transaction { try Assets.dropRetired(olderThan: age, $0) }
  }
}
