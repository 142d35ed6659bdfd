import Definitions
import HTTPServer
import Platform
import Push
import Rooms
import Telemetry

/// The options by which a worker sends notifications to phones and browsers.
enum PushOptions {
  /// The option that names the credentials of a push service, such as `--web-push`.
  private static func credentials(of provider: ProviderKind) -> Option {
    Option(
      "--" + provider.name.replacing("_", with: "-"), "FILE", variable: "TAKE5_" + provider.name.uppercased(),
      help: provider.type.credentials)
  }

  static let notifications = Option(
    "--notifications", "FILE", variable: "TAKE5_NOTIFICATIONS",
    help: "titles and bodies of notifications in place of the built-in ones")
  static let server = Option(
    "--push-server", "URL", .pushServer, variable: "TAKE5_PUSH_SERVER",
    help: "for tests: server in place of Apple's and Google's; subscriptions of browsers may then name this machine")
  static let certificates = Option(
    "--push-certificates", "FILE", variable: "TAKE5_PUSH_CERTIFICATES",
    help: "for tests: trusted CA certificates in PEM for push services, in place of the system's")

  static let all =
    ProviderKind.allCases.map(credentials) + [notifications, .publicURL, server, certificates]

  /// What the files of the options say.
  struct Files: Sendable {
    let configuration: Sender.Configuration
    let texts: PushTexts
  }

  /// Returns what sends notifications; nil without credentials.
  static func courier(_ files: Files, _ metrics: Metrics, _ log: Logger) throws(CommandFailure) -> PushCourier? {
    let configuration = files.configuration
    guard !configuration.providers.isEmpty else { return nil }
    return try checked(certificates) { () throws(PushError) in
      try PushCourier(configuration, files.texts, metrics, log)
    }
  }

  /// Reads the credentials, the certificates and the texts, and connects to nothing. Throws all that is wrong with them.
  static func files(_ arguments: Arguments) throws(InvalidConfiguration) -> Files {
    var reader = InputReader()
    let origin = arguments.value(server.name).flatMap { Origin.split($0)?.0 }
    var configuration = Sender.Configuration()
    for kind in ProviderKind.allCases {
      let option = credentials(of: kind)
      guard let path = arguments.value(option.name) else { continue }
      let provider = reader.read {
        try checked(option) { () throws(PushError) in try kind.type.init(file: path, origin: origin) }
      }
      if let provider { configuration.providers.append(provider) }
    }
    configuration.certificates = arguments.value(certificates.name)
    if origin != nil { configuration.permitted = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) } }
    reader.check { [configuration] in
      try checked(certificates) { () throws(PushError) in try configuration.checkCertificates() }
    }
    guard let texts = reader.read({ try Self.texts(arguments) }), reader.failures.isEmpty else {
      throw InvalidConfiguration(failures: reader.failures)
    }
    return Files(configuration: configuration, texts: texts)
  }

  /// Reads the texts of notifications.
  private static func texts(_ arguments: Arguments) throws(CommandFailure) -> PushTexts {
    let url = arguments.value(Option.publicURL.name).flatMap { PublicURL($0) }
    var json = Definitions.notifications
    if let path = arguments.value(notifications.name) {
      do throws(SystemError) { json = try Descriptor(reading: path).contents() } catch {
        throw CommandFailure(
          .configuration, "\(notifications.name): \(path) cannot be read: \(error.reason)", remedy: "name another file")
      }
    }
    return try checked(notifications, of: arguments.value(notifications.name)) { () throws(PushError) in
      try PushTexts(json: json, publicURL: url.map { "\($0)" })
    }
  }

  /// - Parameter path: the file that the error does not name.
  private static func checked<Value>(
    _ option: Option, of path: String? = nil, _ body: () throws(PushError) -> Value
  ) throws(CommandFailure) -> Value {
    do throws(PushError) { return try body() } catch {
      throw CommandFailure(
        .configuration, "\(option.name): \(path.map { "\($0): " } ?? "")\(error.description)",
        remedy: "correct the file of \(option.name), or remove the option")
    }
  }
}

extension OptionValues {
  /// The URL of a server that takes the place of the push services, which have TLS.
  static let pushServer = OptionValues.format("push server") { text in
    Origin.split(text)?.path == "/" ? nil : "must be https://HOST:PORT, without a path, not '\(text)'"
  }
}
