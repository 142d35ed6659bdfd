import FoundationEssentials

@testable import Push
@testable import Rooms

extension ProviderKind {
  static let pager = ProviderKind(Pager.self)
}

/// A push service of the tests' own: this file, and a line in the list that they pass.
struct Pager: Provider {
  static let name = "pager"
  static let owner = "the pagers'"
  static let credentials = "credentials for pagers, without which they get nothing"
  static let shards = PushShards.count..<PushShards.count + 1

  private let origin: Origin

  init(file path: String, origin: Origin?) { self.origin = origin ?? Origin(host: "pager.example.org") }

  static func address(ofToken token: String) throws(PushError) -> String {
    guard 4...10 ~= token.utf8.count, token.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      throw PushError(.invalidDevice, "the number of a pager is 4 to 10 digits")
    }
    return token
  }

  static func device(at address: String, keys: Device.Keys?, environment: String?) -> Device {
    Device(.pager, at: address)
  }

  func origin(of device: Device) -> Origin? { device.provider == .pager ? origin : nil }

  func request(for notification: Push.Notification, to device: Device, id: UUID, now: Int) -> PushRequest {
    PushRequest(origin, "/pagers/\(device.address)", [:], Array(notification.body.utf8))
  }

  func authorization(for origin: Origin, now: Int) -> AuthorizationStep {
    .ready(Authorization(value: "pager", start: now, renewal: now + 60))
  }

  func outcome(of response: PushResponse, now: Int) -> Outcome {
    response.status == 200 ? .delivered(id: nil) : .unknown("status \(response.status)")
  }
}
