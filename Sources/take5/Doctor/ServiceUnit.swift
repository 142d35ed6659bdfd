import Glibc

/// The unit of systemd that the package installs for the service.
enum ServiceUnit {
  static let name = "take5.service"

  /// Whether systemd starts the unit with the machine: it is enabled, and not masked (systemd.unit(5)).
  ///
  /// - Parameter folder: where the administrator's units are.
  static func isEnabled(in folder: String = "/etc/systemd/system") -> Bool {
    var status = stat()
    guard lstat("\(folder)/multi-user.target.wants/\(name)", &status) == 0 else { return false }
    // A mask is a link to /dev/null. A unit of the package is in another folder.
    let isMasked = stat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    return !isMasked
  }

  /// Whether the unit is to listen where these options say: neither the command line nor a variable names another address.
  static func listens(with arguments: Arguments) -> Bool {
    guard arguments.file?.path == ConfigurationFile.standardPath else { return false }
    switch arguments.setting("--listen")?.source {
    case .file, .standard: return true
    default: return false
    }
  }
}
