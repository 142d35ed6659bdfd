import HTTPClient
import HTTPServer
import Model
import Platform
import Postgres
import Rooms

/// The values that an option takes. The check of a value, the help and the completions of the shells follow from it.
enum OptionValues: Sendable, Hashable {
  /// None: the option is a switch.
  case none
  case text
  case integer(ClosedRange<Int>)
  case seconds(ClosedRange<Double>)
  case choice([String])
  /// A comma-separated list of choices.
  case list([String])
  case file
  case folder
  /// An address to listen on.
  case address
  /// A comma-separated list of addresses and ranges of addresses.
  case addresses
  /// A comma-separated list of hosts and ranges of addresses.
  case permits
  /// The URL of a service.
  case service
  /// The URL at which clients reach the service.
  case publicURL
  /// The URL of a request, to any server.
  case url
  /// The URL of a database, which may contain a password.
  case database
  /// A file with a key set, or its URL.
  case keySet
  /// When the daily window opens.
  case windowSchedule

  /// Seconds without an upper limit of their own.
  static let anySeconds = OptionValues.seconds(0...1e9)
  /// Positive integers without an upper limit of their own.
  static let anyPositive = OptionValues.integer(1...Int(Int32.max))

  /// One of the cases of an enumeration.
  static func choice<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> OptionValues {
    .choice(type.allCases.map(\.rawValue))
  }

  /// A comma-separated list of cases of an enumeration.
  static func list<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> OptionValues {
    .list(type.allCases.map(\.rawValue))
  }

  /// The values that a placeholder of the help names: `front|back`, a `FILE`, a `DIR`; otherwise any text.
  init(placeholder: String?) {
    self =
      switch placeholder {
      case nil: .none
      case "FILE": .file
      case "DIR": .folder
      case let names? where names.contains("|"): .choice(names.split(separator: "|").map(String.init))
      default: .text
      }
  }

  /// The fixed values, of which a shell offers those that fit; empty if there are none.
  var choices: [String] {
    switch self {
    case .choice(let choices), .list(let choices): choices
    default: []
    }
  }

  /// What is wrong with a value, after the name of its option; nil if nothing is. A secret is not repeated.
  ///
  /// - Parameter unit: of an integer.
  func problem(with text: String, unit: String? = nil) -> String? {
    switch self {
    case .none, .text, .file, .folder: return nil
    case .integer(let range):
      guard let number = Int(text), range.contains(number) else {
        let unit = unit.map { ", in \($0)" } ?? ""
        return "must be an integer from \(range.lowerBound) to \(range.upperBound)\(unit), not '\(text)'"
      }
    case .seconds(let range):
      guard let number = Double(text), range.contains(number) else {
        let limits = range.lowerBound == 0 ? "" : " from \(range.lowerBound) to \(range.upperBound)"
        return "must be a number of seconds\(limits), not '\(text)'"
      }
    case .choice(let choices):
      guard choices.contains(text) else {
        return "must be one of \(choices.joined(separator: ", ")), not '\(text)'"
      }
    case .list(let choices):
      for part in text.split(separator: ",", omittingEmptySubsequences: false) where !choices.contains(String(part)) {
        return "must be a comma-separated list of \(choices.joined(separator: ", ")), not '\(part)'"
      }
    case .address:
      if ListenAddress(text) == nil { return "must be an address to listen on, HOST:PORT, not '\(text)'" }
    case .addresses:
      for part in text.split(separator: ",") where AddressRange(String(part)) == nil {
        return "must be addresses such as 192.0.2.1 or 10.0.0.0/8, separated by commas, not '\(part)'"
      }
    case .permits:
      if WebhookPermits(text) == nil {
        return "must be hosts and ranges such as 10.0.0.0/8, separated by commas, not '\(text)'"
      }
    case .service:
      if ServerAddress(url: text) == nil {
        return "must be http://HOST:PORT or https://HOST:PORT, without a path, not '\(text)'"
      }
    case .publicURL:
      if PublicURL(text) == nil { return "must be https://HOST[:PORT][/PATH] or the same with http, not '\(text)'" }
    case .url:
      if RequestURL(text) == nil { return "must be https://HOST/PATH or http://HOST/PATH, without a password" }
    case .keySet:
      if KeySetLocation(text) == nil {
        return "must be a file, https://HOST/PATH, or http:// with an address of this machine, not '\(text)'"
      }
    case .windowSchedule:
      if WindowSchedule(text) == nil {
        return "must be times and a time zone such as '18:00-18:05 Europe/Berlin', not '\(text)'"
      }
    case .database:
      do throws(PostgresError) { _ = try DatabaseURL(text) } catch {
        return "must be a URL such as postgresql://user:password@host:5432/database"
      }
    }
    return nil
  }
}
