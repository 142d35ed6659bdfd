import Logging

extension Logger {
  /// The log that the options ask for.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self.init(
      format: try arguments.choice("--log-format", of: LogFormat.self) ?? .fitting(descriptor: 2),
      lowest: try arguments.choice("--log-level", of: LogLevel.self) ?? .info)
  }
}
