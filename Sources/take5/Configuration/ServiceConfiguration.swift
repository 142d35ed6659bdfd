import HTTPServer
import Kit
import MediaProcess
import Model
import Queue
import Rooms
import Store
import Worker

/// What the options of a service or a worker say, before anything is opened. Most options name the property that they set.
struct ServiceConfiguration: Sendable {
  var worker = WorkerConfiguration()
  var server = ServerConfiguration()
  var api = ControlAPI.Configuration()
  var limits = RateLimits.Configuration()
  var authorConcurrency: Int?
  var keepRejected = Store.keepRejected
  var releasedPause = Store.releasedPause
  /// The limit of the copies of a bucket's blobs, in bytes.
  var blobCache: Int64 = 4096 << 20
  var hasAccounts = false
  /// The operator's API key.
  private(set) var key: String?
  private(set) var identity = IdentityOptions()

  static let standard = ServiceConfiguration()

  private init() {}

  /// Sets the properties of some of a command's options.
  init(_ options: [Option], _ arguments: Arguments) throws(CommandFailure) {
    for option in options {
      guard let property = option.property as? PartialKeyPath<Self>, let text = try arguments.checked(option.name)
      else { continue }
      set(property, option.values, to: text)
    }
    worker.queue.reapInterval = min(worker.queue.reapInterval, worker.queue.lease / 3)
  }

  /// Reads the options of `serve`.
  init(serving arguments: Arguments, at exposure: ServiceExposure) throws(CommandFailure) {
    try self.init(arguments.command.options, arguments)
    (server.host, server.port) = (exposure.address.host, exposure.address.port)
    server.trustedProxies = exposure.proxies
    server.allowedOrigins = try Self.origins(arguments)
    key = try APIKey.read(arguments)
    identity = try IdentityOptions(arguments)
  }

  /// Reads `--allow-origin`.
  static func origins(_ arguments: Arguments) throws(CommandFailure) -> AllowedOrigins {
    do throws(AllowedOrigins.InvalidOrigin) {
      return try AllowedOrigins((arguments.value("--allow-origin") ?? "").split(separator: ","))
    } catch {
      throw CommandFailure(
        .usage, "--allow-origin: '\(error.text)' is not an origin",
        remedy: "write it as https://app.example.org: in lower case, without a path and without the default port")
    }
  }
}

/// The texts of properties: bytes in MiB, times in seconds, and the second of two choices for true.
extension ServiceConfiguration {
  private mutating func set(_ property: PartialKeyPath<Self>, _ values: OptionValues, to text: String) {
    switch property {
    case let path as WritableKeyPath<Self, Int>: self[keyPath: path] = Int(text) ?? self[keyPath: path]
    case let path as WritableKeyPath<Self, Int?>: self[keyPath: path] = Int(text)
    case let path as WritableKeyPath<Self, Int64>: self[keyPath: path] = (Int64(text) ?? 0) << 20
    case let path as WritableKeyPath<Self, Int64?>: self[keyPath: path] = Int64(text).map { $0 << 20 }
    case let path as WritableKeyPath<Self, UInt64>: self[keyPath: path] = (UInt64(text) ?? 0) << 20
    case let path as WritableKeyPath<Self, WindowSchedule?>: self[keyPath: path] = WindowSchedule(text)
    case let path as WritableKeyPath<Self, PublicURL?>: self[keyPath: path] = PublicURL(text)
    case let path as WritableKeyPath<Self, RegistrationCheck?>: self[keyPath: path] = RegistrationCheck(text)
    case let path as WritableKeyPath<Self, Duration>: self[keyPath: path] = .seconds(Double(text) ?? 0)
    case let path as WritableKeyPath<Self, Double>: self[keyPath: path] = Double(text) ?? 0
    case let path as WritableKeyPath<Self, Bool>: self[keyPath: path] = text == values.choices.last
    case \.worker.media.sandbox: worker.media.sandbox = SandboxMode(rawValue: text) ?? worker.media.sandbox
    default:
      if let setting = type(of: property).valueType as? any RoomSetting.Type { set(property, setting, to: text) }
    }
  }

  private mutating func set<Setting: RoomSetting>(
    _ property: PartialKeyPath<Self>, _ type: Setting.Type, to text: String
  ) {
    guard let path = property as? WritableKeyPath<Self, Setting>, let setting = Setting(text) else { return }
    self[keyPath: path] = setting
  }

  /// The text of a property; nil if it is nil.
  func text(of property: PartialKeyPath<Self>, _ values: OptionValues) -> String? {
    switch self[keyPath: property] {
    case let number as Int: "\(number)"
    case let bytes as Int64: "\(bytes >> 20)"
    case let bytes as UInt64: "\(bytes >> 20)"
    case let time as Duration: "\(time.components.seconds)"
    case let seconds as Double: "\(Duration.seconds(seconds).components.seconds)"
    case let flag as Bool: flag ? values.choices.last : values.choices.first
    case let mode as SandboxMode: mode.rawValue
    case let schedule as WindowSchedule: schedule.description
    case let url as PublicURL: url.description
    default: nil
    }
  }
}

extension Option {
  /// An option that sets a property of the configuration, whose value there is its default. Its variable has its name.
  init(
    _ property: any PartialKeyPath<ServiceConfiguration> & Sendable, _ name: String, _ placeholder: String,
    _ values: OptionValues? = nil, help: String
  ) {
    let values = values ?? OptionValues(placeholder: placeholder)
    self.init(
      name, placeholder, values,
      variable: "TAKE5_" + name.dropFirst(2).uppercased().replacing("-", with: "_"),
      default: ServiceConfiguration.standard.text(of: property, values), property: property, help: help)
  }
}
