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

      /// Whether Firebase refuses the registration token: by its field, or in words ("The registration token is not a valid FCM
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
        /// A channel that the app has not made is its default one.
        let channelId: String
        let tag: String?
        let notificationCount: Int?
      }

      let collapseKey: String?
      let priority: String
      let ttl: String
      let notification: Shown?
    }

    /// For devices of Apple that Firebase sends to.
    struct Apple: Encodable {
      struct Payload: Encodable {
        let aps: AppleMessage
      }

      let headers: [String: String]
      let payload: Payload
    }

    let token: String
    let notification: Shown?
    let data: [String: String]
    let android: Android
    let apns: Apple

    init(_ notification: Notification, token: String, ttl: Int) {
      self.token = token
      let (isAlert, isSilent) = (notification.style == .alert, notification.style == .silent)
      let collapseID = notification.collapseID.map { CollapseID.text($0, maxBytes: 64) }
      let isHigh = notification.priority == .high && !isSilent
      self.notification =
        isAlert ? Shown(title: notification.title, body: notification.body, image: notification.mediaURL) : nil
      var data = notification.data
      data["kind"] = notification.kind
      if !isAlert { data["tag"] = collapseID }
      if notification.style == .data {
        (data["title"], data["body"]) = (notification.title, notification.body)
        data["media_url"] = notification.mediaURL
        data["badge"] = notification.badge.map { "\($0)" }
      }
      self.data = data
      // Of data without a key each arrives; Android has four keys, and one alert that waits.
      android = Android(
        collapseKey: isAlert ? collapseID : nil, priority: isHigh ? "HIGH" : "NORMAL", ttl: "\(ttl)s",
        notification: isAlert
          ? Android.Shown(channelId: notification.kind, tag: collapseID, notificationCount: notification.badge) : nil)
      var headers = ["apns-priority": isHigh ? "10" : "5", "apns-expiration": "\(notification.expiry)"]
      headers["apns-collapse-id"] = collapseID
      if isSilent { headers["apns-push-type"] = "background" }
      apns = Apple(headers: headers, payload: .init(aps: AppleMessage(notification, hasAlert: !isAlert)))
    }
  }
}
