/// The dictionary `aps` ("Generating a remote notification" of Apple's documentation). A silent one has only `content-available`.
struct AppleMessage: Encodable {
  struct Alert: Encodable {
    let title: String
    let body: String
  }

  let alert: Alert?
  let badge: Int?
  let sound: String?
  let threadID: String?
  let interruptionLevel: String?
  /// A notification service extension of the app fetches the image.
  let mutableContent: Int?
  let contentAvailable: Int?

  enum CodingKeys: String, CodingKey {
    case alert, badge, sound
    case threadID = "thread-id"
    case interruptionLevel = "interruption-level"
    case mutableContent = "mutable-content"
    case contentAvailable = "content-available"
  }

  /// - Parameter hasAlert: whether it has the texts itself; a message of Firebase may have them elsewhere.
  init(_ notification: Notification, hasAlert: Bool = true) {
    let isSilent = notification.style == .silent
    alert = isSilent || !hasAlert ? nil : Alert(title: notification.title, body: notification.body)
    badge = isSilent ? nil : notification.badge
    sound = isSilent ? nil : "default"
    threadID = isSilent ? nil : notification.thread
    interruptionLevel = !isSilent && notification.isTimeSensitive ? "time-sensitive" : nil
    mutableContent = isSilent || notification.mediaURL == nil ? nil : 1
    contentAvailable = isSilent ? 1 : nil
  }
}
