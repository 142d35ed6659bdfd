internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store

/// The routes of what operators watch: the queue and its workers, the store, and the definitions in use.
struct OperationsRoutes: RouteRoom {
  let kit: Kit
  let reads: BlobReads
  let space: MediaSpace

  var routes: [Route] {
    let history = RecentHistory()
    return [
      route("GET", "/v1/operations", access: .key([.admin])) { try await readOverview($0, history) },
      route("GET", "/v1/operations/store", access: .key([.admin]), handler: readStore),
      route("GET", "/v1/operations/definitions", access: .key([.admin]), handler: readDefinitions),
    ]
  }

  private func readOverview(_ request: Request, _ history: RecentHistory) async throws -> Response {
    let live = try await queryList { session in try session.snapshot { try LiveFigures($0) } }
    let past = await history.figures {
      try await queryList { session in try session.snapshot { try HistoryFigures($0) } }
    }
    let overview = OverviewResponse(at: .now, live, past, storage: await storage())
    // It is another one with each request: nothing of it is kept.
    return .json(.ok, try JSON.encode(overview), headers: ["Cache-Control": "no-store"])
  }

  /// The free space; nil while the storage does not answer, or if there is no known limit.
  private func storage() async -> OverviewResponse.Storage? {
    do {
      return try await reads.freeBytes().map { OverviewResponse.Storage(freeBytes: $0, minFreeBytes: space.minFree) }
    } catch {
      return nil
    }
  }

  private func readStore(_ request: Request) async throws -> Response {
    try .uncached(try await queryList(isWide: true) { session in try session.snapshot { try Operations.usage($0) } })
  }

  private func readDefinitions(_ request: Request) async throws -> Response {
    try .uncached(DefinitionsResponse(definitions: definitions))
  }
}

/// The definitions of a service as JSON, with the keys that their files have.
private struct DefinitionsResponse: Encodable {
  let definitions: SubmissionDefinitions

  private enum CodingKeys: CodingKey { case items }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var items = container.nestedUnkeyedContainer(forKey: .items)
    for definition in [definitions.moment, definitions.clip] { try items.encode(definition) }
    for (_, definition) in definitions.photos.sorted(by: { $0.key < $1.key }) { try items.encode(definition) }
    for (_, definition) in definitions.collections.sorted(by: { $0.key < $1.key }) { try items.encode(definition) }
    try items.encode(definitions.fields)
  }
}
