import Platform
import Telemetry

extension ServiceManager {
  /// Notifies the service manager of this process, if there is one. A manager that cannot be reached is only logged: the
  /// service does its work without it.
  ///
  /// - Parameter status: what the service does or waits for, for people.
  static func notify(_ state: State?, status: String? = nil, _ log: Logger) {
    do throws(SystemError) {
      try current?.notify(state, status: status.map(CommandFailure.line))
    } catch {
      log.warning(
        "the service manager could not be notified", ["state": state?.rawValue ?? "", "error": "\(error)"])
    }
  }
}
