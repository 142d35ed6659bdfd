import FoundationEssentials

@testable import Push
@testable import Rooms

extension ProviderKind {
  static let kiosk = ProviderKind(Kiosk.self)
}

/// A push service of browsers of the tests' own, which have a key of its own to subscribe with: this file, and a line in the list that they
/// pass.
struct Kiosk: Provider {
  static let name = "kiosk"
  static let owner = "kiosks'"
  static let credentials = "credentials for kiosks, without which they get nothing"
  static let shards = Pager.shards.upperBound..<Pager.shards.upperBound + 1
  static let isOfBrowsers = true
  static let subscriptionKeyName: String? = "kiosk-key"

  let subscriptionKey: String? = "the key of kiosks"

  init(file path: String, origin: Origin?) {}

  static func device(at address: String, keys: Device.Keys?, environment: String?) throws(PushError) -> Device {
    guard let keys else { throw PushError(.invalidDevice, "a kiosk has keys") }
    let subscription = try Device.Subscription(endpoint: address, p256dh: keys.p256dh, auth: keys.auth)
    return Device(.kiosk, at: address, subscription: subscription)
  }

  func origin(of device: Device) -> Origin? {
    device.provider == .kiosk ? Origin.split(device.address)?.0 : nil
  }

  func request(
    for notification: Push.Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest {
    guard let (origin, path) = Origin.split(device.address) else { throw PushError(.invalidDevice, "it is no kiosk") }
    return PushRequest(origin, path, [:], Array(notification.body.utf8))
  }

  func authorization(for origin: Origin, now: Int) -> AuthorizationStep {
    .ready(Authorization(value: "kiosk", start: now, renewal: now + 60))
  }

  func outcome(of response: PushResponse, now: Int) -> Outcome {
    response.status == 200 ? .delivered(id: nil) : .unknown("status \(response.status)")
  }
}
