import FoundationEssentials
internal import Model
internal import Push
import Queue
import Store

/// Which job sends to a device: each provider has shards of its own, and so have the push services of the makers of browsers, and the servers
/// that users name. Versions before this one have as many shards as Apple, Firebase and browsers, with which they mix these.
struct PushShards: Codable {
  static let queue = "push"
  static let count = ProviderKind.allCases.map { $0.type.shards.upperBound }.max() ?? 0
  /// An attempt has a turn of half a minute, and then its last requests may wait for a provider.
  private static let deadlineSeconds = 300
  private static let maxAttempts = 1000

  let shard: Int

  init(shard: Int) { self.shard = shard }

  /// - Parameter platforms: the push services that this worker knows.
  /// - Throws: `StoreError.unknownKind` for a shard of another push service, whose job waits for a newer worker.
  init(_ job: ClaimedJob, among platforms: [ProviderKind]) throws {
    self = try JSON.decode(Self.self, from: job.arguments)
    guard platforms.contains(where: { $0.type.shards.contains(shard) }) else {
      throw StoreError.unknownKind("\(job.kind) of shard \(shard)", job.publicID)
    }
  }

  static func job(of shard: Int) throws -> NewJob {
    NewJob(
      publicID: .now(), queue: queue, kind: "push", maxAttempts: maxAttempts, deadlineSeconds: deadlineSeconds,
      uniqueKey: Array("push-\(shard)".utf8), arguments: try JSON.encode(PushShards(shard: shard)))
  }

  /// A device that registers again stays in its shard.
  static func shard(of draft: DeviceDraft) -> Int { draft.platform.type.shard(ofAddress: draft.address) }
}
