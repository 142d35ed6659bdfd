internal import CSystem
import Glibc

/// The program that started this service and waits for its notifications, such as systemd (sd_notify(3)).
package struct ServiceManager: Sendable, Hashable {
  /// A state of the service.
  package enum State: String, Sendable {
    /// The service does its work: units that start after it may start.
    case ready = "READY=1"
    /// The service stops.
    case stopping = "STOPPING=1"
  }

  /// The environment variable with the address of the manager's socket.
  package static let variable = "NOTIFY_SOCKET"

  private let address: String

  /// - Parameter address: the value of the variable: a path, or an abstract address that begins with `@`. Nil if there is
  ///   none: no manager waits.
  package init?(address: String?) {
    guard let address, address.hasPrefix("/") || address.hasPrefix("@") else { return nil }
    self.address = address
  }

  /// The manager of this process; nil if none waits for notifications.
  package static var current: ServiceManager? {
    ServiceManager(address: getenv(variable).map { String(cString: $0) })
  }

  /// Notifies the manager of a state, of what the service does, or of both.
  ///
  /// - Parameter status: one line for people; empty: nothing is to be said any more.
  package func notify(_ state: State?, status: String? = nil) throws(SystemError) {
    let lines = [state?.rawValue, status.map { "STATUS=\($0)" }].compactMap(\.self)
    let text = Array(lines.joined(separator: "\n").utf8)
    guard csystem_send_datagram(address, text, text.count) == 0 else {
      throw SystemError(call: "sendto", subject: address)
    }
  }
}
