internal import Crypto
import FoundationEssentials
internal import Model
internal import Push
import Queue

/// Which job sends to a device: each provider has shards of its own, and so have the push services of the makers of browsers, and the servers
/// that users name. Versions before this one have as many shards, with which they mix providers.
struct PushShards: Codable {
  static let queue = "push"
  static let count = 5
  private static let apple = 0..<2
  private static let firebase = 2
  private static let ofMakers = 3
  private static let foreign = 4
  /// An attempt has a turn of half a minute, and then its last requests may wait for a provider.
  private static let deadlineSeconds = 300
  private static let maxAttempts = 1000

  let shard: Int

  init(shard: Int) { self.shard = shard }

  init(_ job: ClaimedJob) throws { self = try JSON.decode(Self.self, from: job.arguments) }

  static func job(of shard: Int) throws -> NewJob {
    NewJob(
      publicID: .now(), queue: queue, kind: "push", maxAttempts: maxAttempts, deadlineSeconds: deadlineSeconds,
      uniqueKey: Array("push-\(shard)".utf8), arguments: try JSON.encode(PushShards(shard: shard)))
  }

  /// A device that registers again stays in its shard.
  static func shard(of draft: DeviceDraft) -> Int {
    switch draft.platform {
    case .apns: apple.lowerBound + Int(SHA256.digest(of: Array(draft.address.utf8)).bytes.first ?? 0) % apple.count
    case .fcm: firebase
    case .webPush: Origin.split(draft.address).map { WebPush.isOfMaker($0.0) } == true ? ofMakers : foreign
    }
  }
}
