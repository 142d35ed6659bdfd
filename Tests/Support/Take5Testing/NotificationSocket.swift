import Glibc
package import Platform

/// The socket of a service manager, to which services send notifications (sd_notify(3)).
package final class NotificationSocket: Sendable {
  private let socket: OpenFile
  private let folder: String?
  /// What a service finds in its variable `NOTIFY_SOCKET`.
  package let address: String

  /// - Parameter isAbstract: whether the address is abstract (unix(7)) instead of a path.
  package init(isAbstract: Bool = false) throws {
    var folder: String?
    if isAbstract {
      address = "@take5-\(getpid())-\(UInt64.random(in: .min ... .max))"
    } else {
      var template = Array("/tmp/take5-notify-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
      let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      folder = path
      address = "\(path)/notify"
    }
    self.folder = folder
    let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemError(call: "socket") }
    socket = OpenFile(Descriptor(owning: number))
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = isAbstract ? [0] + Array(address.utf8.dropFirst()) : Array(address.utf8)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let bound = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
    }
    guard bound == 0 else { throw SystemError(call: "bind", subject: address) }
    // A test whose notification is missing fails instead of waiting forever.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    if let folder { try? Folder.remove(folder) }
  }

  /// Waits for the next notification, two minutes at most.
  package func receive() throws(SystemError) -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // Ends: by the timeout of the socket.
    while true {
      let count = recv(socket.descriptor.number, &bytes, bytes.count, 0)
      if count >= 0 { return String(decoding: bytes.prefix(count), as: UTF8.self) }
      guard errno == EINTR else { throw SystemError(call: "recv") }
    }
  }

  /// The next notification; nil if none has arrived.
  package func next() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(socket.descriptor.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
