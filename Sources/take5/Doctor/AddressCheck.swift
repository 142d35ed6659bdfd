import Glibc
import HTTPServer
import Platform

extension DoctorCheck {
  /// Checks that the service, and the metrics of a worker, can listen on their addresses.
  static func addresses(_ subject: DoctorSubject) async throws -> [CheckResult] {
    try ["--listen", "--metrics"].compactMap { option throws(CommandFailure) -> CheckResult? in
      guard let text = subject.arguments.value(option) else { return nil }
      let address = try ListenAddress(parsing: text)
      do throws(ServerError) {
        let socket = try ListeningSocket(host: address.host, port: address.port)
        let isDown = option == "--listen" && ServiceUnit.listens(with: subject.arguments) && ServiceUnit.isEnabled()
        return isDown ? down(text) : result(option, text, chosen: address.port == 0 ? socket.port : nil)
      } catch {
        let owner = ListeningProcess.find(port: address.port)
        return result(option, text, error, owner: owner)
      }
    }
  }

  private static func result(_ option: String, _ text: String, chosen: UInt16?) -> CheckResult {
    .ok(
      "address", String(option.dropFirst(2)),
      "\(text) is free\(chosen == nil ? ": no service listens on it" : ": the system chooses a port")")
  }

  /// The result of a free address at which the unit of the service should listen.
  static func down(_ text: String) -> CheckResult {
    .warning(
      "address", "listen",
      "\(ServiceUnit.name) is enabled, and no process listens on \(text): the service does not run",
      remedy: "see why with 'systemctl status take5' and 'journalctl --unit take5'; then 'systemctl start take5'")
  }

  /// The result of an address that cannot be bound.
  ///
  /// - Parameter owner: the process that listens on the port, as far as this user can see it.
  static func result(
    _ option: String, _ text: String, _ error: ServerError, owner: ListeningProcess?
  ) -> CheckResult {
    let subject = String(option.dropFirst(2))
    if case .cannotListen(let cause) = error, cause.code == EADDRINUSE, let owner, owner.name == "take5" {
      return .ok("address", subject, "\(owner.text) listens on \(text): take5, which is running")
    }
    return .error("address", subject, CommandFailure(error, listeningOn: text, option, owner: owner))
  }
}
