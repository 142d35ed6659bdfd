import MediaProcess
import Model
import Postgres
import Rooms
import Worker

/// One option of a command.
struct Option: Sendable, Hashable {
  /// The name with its dashes, such as `--data`.
  let name: String
  /// The placeholder of the value in the help, such as `DIR`; nil for a switch without a value.
  let placeholder: String?
  let values: OptionValues
  /// The environment variable that is read if the option is not given, such as `TAKE5_DATA`.
  let variable: String?
  /// The value if neither the option nor the variable is given, as the help shows it.
  let defaultValue: String?
  let help: String
  /// A short form, such as `-o`.
  let short: String?
  /// The key that sets the option in a configuration file, such as `data`; nil for an option of a single command, which
  /// has no variable either.
  let key: String?
  /// The property that the option sets; nil: the command reads it.
  let property: Property?

  typealias Property = any PartialKeyPath<ServiceConfiguration> & Sendable

  /// - Parameter values: those that the placeholder names, unless given.
  init(
    _ name: String, _ placeholder: String? = nil, _ values: OptionValues? = nil, variable: String? = nil,
    default defaultValue: String? = nil, short: String? = nil,
    isInFile: Bool = true, property: Property? = nil, help: String
  ) {
    self.name = name
    self.placeholder = placeholder
    self.values = values ?? OptionValues(placeholder: placeholder)
    self.variable = variable
    key = variable != nil && isInFile ? String(name.dropFirst(2)) : nil
    self.defaultValue = defaultValue
    self.short = short
    self.property = property
    self.help = help
  }

  /// An option that sets a property of the configuration, whose value there is its default. Its variable has its name.
  init(
    _ property: Property, _ name: String, _ placeholder: String, _ values: OptionValues? = nil, help: String
  ) {
    let values = values ?? OptionValues(placeholder: placeholder)
    self.init(
      name, placeholder, values,
      variable: "TAKE5_" + name.dropFirst(2).uppercased().replacing("-", with: "_"),
      default: ServiceConfiguration.standard.text(of: property, values), property: property, help: help)
  }

  /// The option that names a file with the value of this one, which may be a secret.
  var file: Option {
    Option(
      name + "-file", "FILE", variable: variable.map { $0 + "_FILE" },
      help: "file whose first line is the value of \(name), which may contain a password")
  }

  /// Whether the value may contain a password.
  var isSecret: Bool { values == .database }

  /// The unit of the value, for messages; nil: its name or the message says it.
  var unit: String? { placeholder == "MIB" || placeholder == "MB" ? "MiB" : nil }

  /// Whether an argument names the option.
  func isNamed(_ argument: String) -> Bool { argument == name || argument == short }
}

/// Options that several commands share.
extension Option {
  static let mediaMemory = Option(
    \.worker.media.memoryLimit, "--media-memory", "MB", .integer(64...65536),
    help: "maximum address space of a media process, in MiB")
  static let sandbox = Option(
    \.worker.media.sandbox, "--sandbox", "off|available|required",
    help: "walls around media processes: none, those that the machine permits, or no start without all of them")
  static let configuration = Option(
    "--config", "FILE", variable: "TAKE5_CONFIG", isInFile: false,
    help: "configuration file, instead of \(ConfigurationFile.standardPath) if that exists")
  static let help = Option("--help", help: "print this text")
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
    help: "pool mode of the connection pooler, required if --database is one")
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
    help: "grace period for which replaced outputs stay readable")
  static let releasedPause = Option(
    \.releasedPause, "--released-pause", "SECONDS", .anySeconds,
    help:
      "time for which files stay that nothing refers to any more: a standby that has lost the last commits needs them; 0 removes them at once"
  )
  static let minFree = Option(
    \.api.minFree, "--min-free", "MIB", .integer(0...1 << 30),
    help:
      "minimum free space for media: with less, a service refuses media; near it, what waits for --released-pause is removed"
  )

  /// The options of a command that is a client of a service.
  static let serviceAccess: [Option] = [.giveUpAfter, .server, .certificates, .apiKey, .json]
  /// The options that name the store.
  static let store: [Option] = [
    .data, .database, .database.file, .pooling, BlobOptions.blobs, BlobOptions.next,
    BlobOptions.cache, BlobOptions.certificates,
  ]
  /// The options that name the database for notifications.
  static let listening: [Option] = [.listenDatabase, .listenDatabase.file]
  /// The options of a command that uses the store and can print JSON.
  static let storeAccess: [Option] = store + [.json]
}

/// Options that select jobs.
extension Option {
  /// The options that `JobFilter.init(_:limit:)` reads.
  static func jobFilter(limit: Option) -> [Option] {
    [
      Option(
        "--state", "STATES", .list(of: JobState.self),
        help: "comma-separated list of scheduled, available, executing, completed, cancelled, dead"),
      Option("--queue", "NAME", help: "jobs of this queue"),
      Option("--kind", "KIND", help: "jobs of this kind, such as post or image"),
      Option("--author", "NAME", help: "jobs of this author"),
      Option("--error", "TEXT", help: "jobs whose last error contains this text, ignoring case"),
      Option(
        "--created-after", "TIME",
        help: "jobs created after this time: 2026-11-20T18:30:00Z, 2026-11-20, or 45s, 30m, 2h, 7d before now"),
      Option("--created-before", "TIME", help: "jobs created before this time"),
      Option("--finished-after", "TIME", help: "jobs finished after this time"),
      Option("--finished-before", "TIME", help: "jobs finished before this time"),
      Option("--before", "JOB", help: "jobs older than this job, the last one of the previous list"), limit,
    ]
  }

  static let jobListLimit = Option("--limit", "N", .integer(1...1000), default: "20", help: "maximum number of jobs")

  /// The options of a command that changes many jobs.
  static let jobChanges: [Option] =
    jobFilter(
      limit: Option("--limit", "N", .anyPositive, help: "change at most this many of the selected jobs, newest first"))
    + [
      Option("--all", help: "change all selected jobs"),
      Option("--dry-run", help: "print the number of selected jobs and change nothing"),
    ] + storeAccess
}
