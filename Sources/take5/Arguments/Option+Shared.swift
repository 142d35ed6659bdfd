extension Option {
  static let mediaMemory = Option(
    "--media-memory", "MB", variable: "TAKE5_MEDIA_MEMORY", default: "2048",
    help: "the most address space of a media process, in MiB")
  static let json = Option("--json", help: "answer in JSON, for programs")
  static let data = Option(
    "--data", "DIR", variable: "TAKE5_DATA", default: ".take5",
    help: "the folder of blobs and of the embedded PostgreSQL")
  static let database = Option(
    "--database", "URL", variable: "TAKE5_DATABASE_URL",
    help: "a PostgreSQL of your own, 13 or newer, instead of the embedded one")
  static let pooling = Option(
    "--pooling", "session|transaction", variable: "TAKE5_POOLING",
    help: "to be said if --database is a pooler: for how long it lends a connection")
  static let listenDatabase = Option(
    "--listen-database", "URL", variable: "TAKE5_LISTEN_DATABASE_URL",
    help: "the same database past a pooler, to hear of new jobs; without it they are looked for")
  static let definition = Option(
    "--definition", "FILE", help: "a definition instead of the built-in one (jobs/take5-post.json)")
  static let foreground = Option(
    "--foreground", "front|back", default: "front", help: "the camera that is drawn on top")
  static let latency = Option(
    "--latency", help: "be done sooner, on several cores; the outputs are the same, the work and memory a little more")
  static let portable = Option(
    "--portable", help: "leave the processor's vector units unused: slow, and the outputs are the same")
  static let server = Option(
    "--server", "URL", variable: "TAKE5_SERVER", default: "http://127.0.0.1:8080",
    help: "the service; with https:// its certificate is verified")
  static let certificates = Option(
    "--cacert", "FILE", variable: "CURL_CA_BUNDLE",
    help: "the certificates that are trusted, in PEM, instead of the system's; SSL_CERT_FILE does the same")
  static let apiKey = Option(
    "--api-key-file", "FILE", variable: "TAKE5_API_KEY_FILE",
    help: "holds the API key; TAKE5_API_KEY gives the key itself")
  static let logLevel = Option(
    "--log-level", "LEVEL", variable: "TAKE5_LOG_LEVEL", default: "info", help: "debug, info, warning or error")
  static let logFormat = Option(
    "--log-format", "text|json", variable: "TAKE5_LOG_FORMAT", help: "text on a terminal, else JSON")
  static let backgroundSlots = Option(
    "--background-slots", "N", variable: "TAKE5_BACKGROUND_SLOTS", default: "1",
    help: "stored media that are made again at a time, with processor time that nobody else wants")
  static let grace = Option(
    "--grace", "SECONDS", variable: "TAKE5_GRACE", default: "86400",
    help: "how long outputs can still be read once others took their place")
  static let lease = Option(
    "--lease", "SECONDS", variable: "TAKE5_LEASE", default: "30",
    help: "without a sign of life for so long a worker's jobs go to others")
  static let drain = Option(
    "--drain", "SECONDS", variable: "TAKE5_DRAIN", default: "25",
    help: "how long running jobs may go on when stopped; what runs then is given back")
  static let poll = Option(
    "--poll", "SECONDS", variable: "TAKE5_POLL", default: "1",
    help: "how often the queue is looked at, whether or not something was heard")
}
