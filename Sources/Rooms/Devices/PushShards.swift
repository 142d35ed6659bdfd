internal import Crypto
import FoundationEssentials
internal import Model
internal import Push
import Queue

/// Which job sends to a device. A provider has shards of its own, and so has each push service of a maker of browsers; servers that users
/// name share some by their hosts, so that one of them holds up few others.
struct PushShards: Codable {
  static let queue = "push"
  static let count = 16
  private static let apple = 0..<4
  private static let foreign = 4..<8
  private static let firebase = 8..<12
  private static let ofMakers: KeyValuePairs = [
    "fcm.googleapis.com": 12, "updates.push.services.mozilla.com": 13, "web.push.apple.com": 14,
  ]
  /// `*.notify.windows.com`
  private static let windows = 15
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
    case .apns: shard(draft.address, in: apple)
    case .fcm: shard(draft.address, in: firebase)
    case .webPush: shard(of: Origin.split(draft.address)?.0)
    }
  }

  private static func shard(of origin: Origin?) -> Int {
    guard let origin else { return foreign.lowerBound }
    if origin.port == 443 {
      if let maker = ofMakers.first(where: { $0.key == origin.host }) { return maker.value }
      if origin.host.hasSuffix(".notify.windows.com") { return windows }
    }
    return shard(origin.host, in: foreign)
  }

  private static func shard(_ text: String, in range: Range<Int>) -> Int {
    range.lowerBound + Int(SHA256.digest(of: Array(text.utf8)).bytes.first ?? 0) % range.count
  }

  /// Who has the devices of a shard.
  static func platform(of shard: Int) -> RegisteredDevice.Platform {
    apple.contains(shard) ? .apns : firebase.contains(shard) ? .fcm : .webPush
  }

  static func isForeign(_ shard: Int) -> Bool { foreign.contains(shard) }
}
