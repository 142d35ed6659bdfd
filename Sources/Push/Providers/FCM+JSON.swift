extension FCM {
  struct Claims: Encodable {
    let iss: String
    let scope: String
    let aud: String
    let iat: Int
    let exp: Int
  }

  struct AccessToken: Decodable {
    let accessToken: String
    let expiresIn: Int
  }

  /// The response to a message.
  struct Answer: Decodable {
    struct Failure: Decodable {
      struct Detail: Decodable {
        struct Violation: Decodable {
          let field: String?
        }

        let errorCode: String?
        let fieldViolations: [Violation]?
      }

      let status: String?
      let message: String?
      let details: [Detail]?

      /// Whether the registration token is what was refused: by its field, or in words ("The registration token is not a valid FCM
      /// registration token").
      var isOfToken: Bool {
        details?.contains { $0.fieldViolations?.contains { $0.field == "message.token" } == true } == true
          || message?.lowercased().contains("registration token") == true
      }
    }

    let name: String?
    let error: Failure?
  }

  struct Envelope: Encodable {
    let message: Message
  }

  /// `projects.messages`: Message, as far as it is used.
  struct Message: Encodable {
    struct Shown: Encodable {
      let title: String
      let body: String
      let image: String?
    }

    struct Android: Encodable {
      struct Shown: Encodable {
        let tag: String?
        let notificationCount: Int?
      }

      let collapseKey: String?
      let priority: String
      let ttl: String
      let notification: Shown
    }

    /// For devices of Apple that Firebase sends to.
    struct Apple: Encodable {
      struct Payload: Encodable {
        struct Aps: Encodable {
          let badge: Int?
          let sound = "default"
          let mutableContent: Int?

          enum CodingKeys: String, CodingKey {
            case badge, sound
            case mutableContent = "mutable-content"
          }
        }

        let aps: Aps
      }

      let headers: [String: String]
      let payload: Payload
    }

    let token: String
    let notification: Shown
    let data: [String: String]
    let android: Android
    let apns: Apple

    init(_ notification: Notification, token: String, ttl: Int) {
      self.token = token
      self.notification = Shown(title: notification.title, body: notification.body, image: notification.mediaURL)
      data = notification.data.merging(["kind": notification.kind]) { _, kind in kind }
      let collapseID = notification.collapseID.map { CollapseID.text($0, maxBytes: 64) }
      let isHigh = notification.priority == .high
      android = Android(
        collapseKey: collapseID, priority: isHigh ? "HIGH" : "NORMAL", ttl: "\(ttl)s",
        notification: Android.Shown(tag: collapseID, notificationCount: notification.badge))
      var headers = ["apns-priority": isHigh ? "10" : "5", "apns-expiration": "\(notification.expiry)"]
      headers["apns-collapse-id"] = collapseID
      let mutableContent = notification.mediaURL == nil ? nil : 1
      apns = Apple(
        headers: headers, payload: .init(aps: .init(badge: notification.badge, mutableContent: mutableContent)))
    }
  }
}
