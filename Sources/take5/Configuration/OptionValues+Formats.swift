import HTTPClient
import HTTPServer
import Model
import Platform
import Postgres
import Rooms

/// The formats of values that a type of another target reads.
extension OptionValues {
  /// A comma-separated list of addresses and ranges of addresses.
  static let addresses = OptionValues.format("addresses") { text in
    text.split(separator: ",").first { AddressRange(String($0)) == nil }.map {
      "must be addresses such as 192.0.2.1 or 10.0.0.0/8, separated by commas, not '\($0)'"
    }
  }
  /// The URL of a service.
  static let service = OptionValues.format("service") { text in
    ServerAddress(url: text) == nil
      ? "must be http://HOST:PORT or https://HOST:PORT, without a path, not '\(text)'" : nil
  }
  /// The URL at which clients reach the service.
  static let publicURL = OptionValues.format("public URL") { text in
    PublicURL(text) == nil ? "must be https://HOST[:PORT][/PATH] or the same with http, not '\(text)'" : nil
  }
  /// The URL of a request, to any server.
  static let url = OptionValues.format("URL") { text in
    RequestURL(text) == nil ? "must be https://HOST/PATH or http://HOST/PATH, without a password" : nil
  }
  /// When the daily window opens.
  static let windowSchedule = OptionValues.format("window") { text in
    WindowSchedule(text) == nil
      ? "must be times and a time zone such as '18:00-18:05 Europe/Berlin', not '\(text)'" : nil
  }
  /// The URL of a database, which may contain a password.
  static let database = OptionValues.format("database", isSecret: true) { text in
    do throws(PostgresError) {
      _ = try DatabaseURL(text)
      return nil
    } catch {
      return "must be a URL such as postgresql://user:password@host:5432/database"
    }
  }
}
