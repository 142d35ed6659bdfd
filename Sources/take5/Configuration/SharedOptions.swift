import HTTPServer
import MediaProcess
import Model
import Postgres
import Rooms
import Worker

/// Options that several commands share.
extension Option {
  static let mediaMemory = Option(
    \.worker.media.memoryLimit, "--media-memory", "MB", .integer(64...65536),
    help: "maximum address space of a media process, in MiB")
  static let sandbox = Option(
    \.worker.media.sandbox, "--sandbox", "off|available|required",
    help: "walls around media processes: none, the ones that the machine permits, or all, without which nothing starts")
  static let json = Option("--json", help: "print JSON")
  static let force = Option("--force", help: "replace existing files, but never an input")
  static let data = Option(
    "--data", "DIR", variable: "TAKE5_DATA", default: ".take5",
    help: "data folder: the blobs and the embedded PostgreSQL")
  static let database = Option(
    "--database", "URL", .database, variable: "TAKE5_DATABASE_URL",
    help: "use this PostgreSQL, version 13 or later, instead of the embedded one")
  static let pooling = Option(
    "--pooling", "session|transaction", .choice(of: Pooling.self), variable: "TAKE5_POOLING",
    help: "pool mode of the connection pooler; required if --database names a pooler")
  static let listenDatabase = Option(
    "--listen-database", "URL", .database, variable: "TAKE5_LISTEN_DATABASE_URL",
    help: "direct URL of the same database for LISTEN behind a pooler; without it the queue is polled")
  static let definition = Option(
    "--definition", "FILE",
    help: "use this definition instead of the built-in one, which 'take5 definition show take5-post' prints")
  static let foreground = Option(
    "--foreground", "front|back", default: "front", help: "camera that is shown in the inset")
  static let latency = Option(
    "--latency", help: "finish sooner by using several cores; same outputs, slightly more CPU time and memory")
  static let portable = Option(
    "--portable", help: "do not use the processor's vector instructions; slow, same outputs")
  static let server = Option(
    "--server", "URL", .service, variable: "TAKE5_SERVER", default: "http://127.0.0.1:8080",
    help: "URL of the service; with https:// its certificate is verified")
  static let certificates = Option(
    "--cacert", "FILE", variable: "CURL_CA_BUNDLE",
    help: "trusted CA certificates in PEM instead of the system's; SSL_CERT_FILE has the same effect")
  static let apiKey = Option(
    "--api-key-file", "FILE", variable: "TAKE5_API_KEY_FILE",
    help: "file whose first line is the API key; TAKE5_API_KEY holds the key itself")
  static let giveUpAfter = Option(
    "--give-up-after", "SECONDS", .anySeconds,
    help: "give up when a lost connection is not back, or nothing more arrives, for this time; without it, never")
  static let grace = Option(
    \.worker.grace, "--grace", "SECONDS", .anySeconds,
    help: "time for which replaced outputs stay readable")
  static let releasedPause = Option(
    \.releasedPause, "--released-pause", "SECONDS", .anySeconds,
    help:
      "time for which unreferenced files stay: a standby that has lost the last commits needs them; 0 removes them at once"
  )
  static let minFree = Option(
    \.api.minFree, "--min-free", "MIB", .integer(0...1 << 30),
    help:
      "minimum free space: below it a service refuses media; close to it, unreferenced files are removed at once"
  )
  static let publicURL = Option(
    \.server.publicURL, "--public-url", "URL", .publicURL,
    help:
      "URL at which clients reach the service, also with a path that a proxy removes; without it notifications have no pictures"
  )
  static let parallelCopies = Option(
    "--parallel", "N", .integer(1...64), default: "4", help: "blobs that are copied at the same time")

  /// The options of a command that is a client of a service.
  static let serviceAccess: [Option] = [.giveUpAfter, .server, .certificates, .apiKey, .json]
}

extension Subcommand {
  /// Whether the command opens a store, and therefore needs the options of the service.
  var opensStore: Bool { options.contains(.data) }
}
