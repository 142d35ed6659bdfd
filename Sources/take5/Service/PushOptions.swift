import Definitions
import HTTPServer
import Platform
import Push
import Rooms
import Telemetry

/// The options by which a worker sends notifications to phones and browsers.
enum PushOptions {
  static let apns = Option(
    "--apns", "FILE", variable: "TAKE5_APNS",
    help: "credentials for Apple's push service, without which it gets nothing")
  static let fcm = Option(
    "--fcm", "FILE", variable: "TAKE5_FCM", help: "service account for Firebase, without which it gets nothing")
  static let webPush = Option(
    "--web-push", "FILE", variable: "TAKE5_WEB_PUSH", help: "VAPID key for browsers, without which they get nothing")
  static let notifications = Option(
    "--notifications", "FILE", variable: "TAKE5_NOTIFICATIONS",
    help: "titles and bodies of notifications in place of the built-in ones")
  static let publicURL = Option(
    \.server.publicURL, "--public-url", "URL", .publicURL,
    help:
      "URL at which clients reach the service, also with a path that a proxy removes; without it notifications have no pictures"
  )
  static let server = Option(
    "--push-server", "URL", .service, variable: "TAKE5_PUSH_SERVER",
    help: "for tests: server in place of Apple's and Google's, on whose addresses browsers may have theirs")
  static let certificates = Option(
    "--push-certificates", "FILE", variable: "TAKE5_PUSH_CERTIFICATES",
    help: "for tests: trusted CA certificates in PEM of push services, in place of the system's")

  static let all = [apns, fcm, webPush, notifications, publicURL, server, certificates]

  /// Returns what sends notifications; nil without credentials.
  static func courier(_ arguments: Arguments, _ metrics: Metrics, _ log: Logger) throws(CommandFailure) -> PushCourier?
  {
    let configuration = try configuration(arguments)
    guard configuration.apns != nil || configuration.fcm != nil || configuration.webPush != nil else { return nil }
    let texts = try texts(arguments)
    return try checked(certificates) { () throws(PushError) in try PushCourier(configuration, texts, metrics, log) }
  }

  /// Reads the credentials, and connects to nothing.
  static func configuration(_ arguments: Arguments) throws(CommandFailure) -> Sender.Configuration {
    let origin = try arguments.checked(server.name).flatMap { Origin.split($0)?.0 }
    var configuration = Sender.Configuration()
    if let path = arguments.value(apns.name) {
      configuration.apns = try checked(apns) { () throws(PushError) in try APNs(file: path, origin: origin) }
    }
    if let path = arguments.value(fcm.name) {
      configuration.fcm = try checked(fcm) { () throws(PushError) in try FCM(file: path, origin: origin) }
    }
    if let path = arguments.value(webPush.name) {
      configuration.webPush = try checked(webPush) { () throws(PushError) in try WebPush(file: path) }
    }
    configuration.certificates = arguments.value(certificates.name)
    if origin != nil { configuration.permitted = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) } }
    return configuration
  }

  /// Reads the texts of notifications.
  static func texts(_ arguments: Arguments) throws(CommandFailure) -> PushTexts {
    let url = try arguments.checked(publicURL.name).flatMap { PublicURL($0) }
    var json = Definitions.notifications
    if let path = arguments.value(notifications.name) {
      do throws(SystemError) { json = try Descriptor(reading: path).contents() } catch {
        throw CommandFailure(
          .configuration, "\(notifications.name): \(path) cannot be read: \(error.reason)", remedy: "name another file")
      }
    }
    return try checked(notifications) { () throws(PushError) in
      try PushTexts(json: json, publicURL: url.map { "\($0)" })
    }
  }

  private static func checked<Value>(
    _ option: Option, _ body: () throws(PushError) -> Value
  ) throws(CommandFailure) -> Value {
    do throws(PushError) { return try body() } catch {
      throw CommandFailure(
        .configuration, "\(option.name): \(error.description)",
        remedy: "correct the file of credentials, or remove the option")
    }
  }
}
