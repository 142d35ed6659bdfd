import FoundationEssentials
import Push

extension ProviderKind {
  static let pager = ProviderKind(Pager.self)
}

/// A push service of the tests' own, which accepts what Apple's accepts for devices that are not Apple's: this file, and a line in the list
/// of the probe.
struct Pager: Provider {
  static let name = "pager"
  static let owner = "the pagers'"
  static let credentials = "credentials for pagers, without which they get nothing"
  static let shards = 5..<6

  private let apns: APNs

  init(file path: String, origin: Origin?) throws(PushError) { apns = try APNs(file: path, origin: origin) }

  static func device(at address: String, keys: Device.Keys?, environment: String?) -> Device {
    Device(.pager, at: address)
  }

  func origin(of device: Device) -> Origin? {
    device.provider == .pager ? apns.origin(of: .apns(device.address)) : nil
  }

  func request(
    for notification: Push.Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest {
    try apns.request(for: notification, to: .apns(device.address), id: id, now: now)
  }

  func authorization(for origin: Origin, now: Int) -> AuthorizationStep { apns.authorization(for: origin, now: now) }

  func outcome(of response: PushResponse, now: Int) -> Outcome { apns.outcome(of: response, now: now) }
}
