/// What a device shows.
package struct Notification: Sendable, Hashable {
  package enum Priority: Sendable, Hashable {
    /// Delivered at once, even if the device sleeps.
    case high
    /// Delivered when it suits the device's battery.
    case normal
  }

  package enum Style: Sendable, Hashable {
    /// The device shows it.
    case alert
    /// The app shows it, where the provider can deliver that: on Android, where a later alert replaces one that waits for the phone.
    case data
    /// The app learns of it, and nothing is shown.
    case silent
  }

  /// The kind of its event, such as `friend_posted`.
  package var kind: String
  package var style: Style
  package var title: String
  package var body: String
  package var badge: Int?
  /// The address of an image that the device fetches and shows.
  package var mediaURL: String?
  /// What the app reads.
  package var data: [String: String]
  /// Replaces the notification with the same id that a device has not shown yet, or still shows.
  package var collapseID: String?
  /// What a device groups it by.
  package var thread: String?
  /// Whether it is of no use later, so that a device shows it whatever it is set to.
  package var isTimeSensitive: Bool
  /// The time from which nothing delivers it, in seconds since 1970-01-01 UTC.
  package var expiry: Int
  package var priority: Priority

  package init(
    kind: String, style: Style = .alert, title: String, body: String, badge: Int? = nil, mediaURL: String? = nil,
    data: [String: String] = [:], collapseID: String? = nil, thread: String? = nil, isTimeSensitive: Bool = false,
    expiry: Int, priority: Priority = .high
  ) {
    self.kind = kind
    self.style = style
    self.title = title
    self.body = body
    self.badge = badge
    self.mediaURL = mediaURL
    self.data = data
    self.collapseID = collapseID
    self.thread = thread
    self.isTimeSensitive = isTimeSensitive
    self.expiry = expiry
    self.priority = priority
  }

  /// Encodes it in at most `maxBytes`: the body is shortened for that, then the title, each between two characters.
  func encoded(within maxBytes: Int, _ encode: (Notification) -> [UInt8]) throws(PushError) -> [UInt8] {
    var text = encode(self)
    if text.count <= maxBytes { return text }
    var copy = self
    for part in [\Notification.body, \Notification.title] {
      let characters = Array(self[keyPath: part].prefix(maxBytes))
      // The number of characters that fit, by bisection: JSON writes some in more bytes than others.
      var (fits, tooMany) = (0, characters.count)
      while fits < tooMany {
        let count = (fits + tooMany + 1) / 2
        copy[keyPath: part] = String(characters[..<count]) + "…"
        if encode(copy).count <= maxBytes { fits = count } else { tooMany = count - 1 }
      }
      copy[keyPath: part] = fits == 0 ? "" : String(characters[..<fits]) + "…"
      text = encode(copy)
      if text.count <= maxBytes { return text }
    }
    throw PushError(.notificationTooLarge, "the data of the notification alone are longer than \(maxBytes) bytes")
  }
}

/// The reason why a notification, a device or a file of credentials cannot be used. It repeats no secret.
package struct PushError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case notificationTooLarge = "notification_too_large"
    case invalidDevice = "invalid_device"
    case invalidCredentials = "invalid_credentials"
    case invalidTemplates = "invalid_templates"
    case unavailable
  }

  package let code: Code
  package let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
