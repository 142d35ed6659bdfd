import Glibc
import HTTPServer
import Platform

extension CommandFailure {
  /// The failure of a command that cannot listen on the address of an option.
  ///
  /// - Parameter owner: the process that listens on the port, as far as this user can see it.
  init(_ error: ServerError, listeningOn text: String, _ option: String, owner: ListeningProcess?) {
    guard case .cannotListen(let cause) = error else {
      self.init(.unavailable, "\(error)", remedy: "name an address of this machine with \(option)")
      return
    }
    switch cause.code {
    case EADDRINUSE where owner?.name == "take5":
      let process = owner?.id.map { "its process \($0)" } ?? "one of its processes"
      self.init(
        .unavailable, "take5 runs already: \(process) listens on \(text)",
        remedy: "stop that process, or choose another address with \(option)")
    case EADDRINUSE:
      let name = owner.map { "\($0.text) (\($0.name))" } ?? "a process of another user"
      self.init(
        .unavailable, "\(name) listens on \(text)",
        remedy: "stop that process, or choose another address with \(option)")
    case EACCES:
      self.init(
        .unavailable, "\(text) cannot be bound: \(cause.reason)",
        remedy: "choose a port from 1024 with \(option), or give the service CAP_NET_BIND_SERVICE")
    default:
      self.init(
        .unavailable, "\(text) cannot be bound: \(cause.reason)",
        remedy: "name an address of this machine with \(option)")
    }
  }
}

/// A process that listens on a TCP port.
struct ListeningProcess: Sendable, Hashable {
  /// Nil if it is one of several.
  let id: Int32?
  let name: String

  /// For messages.
  var text: String { id.map { "process \($0)" } ?? "a process" }

  /// Finds the process in /proc; nil if another user owns it, and this one may not look at its descriptors.
  static func find(port: UInt16) -> ListeningProcess? {
    let found = ["tcp", "tcp6"].flatMap { Self.sockets(port: port, in: text("/proc/net/\($0)")) }
    let sockets = Dictionary(found.map { ($0.name, $0.user) }) { $1 }
    guard !sockets.isEmpty, let processes = try? Folder.names(in: "/proc") else { return nil }
    var hidden: [Int32] = []
    for id in processes.compactMap({ Int32($0) }) {
      let folder = "/proc/\(id)/fd"
      guard let descriptors = try? Folder.names(in: folder) else {
        if name(of: id) == "take5", sockets.values.contains(user(of: id)) { hidden.append(id) }
        continue
      }
      if descriptors.contains(where: { link("\(folder)/\($0)").map { sockets[$0] != nil } == true }) {
        return ListeningProcess(id: id, name: name(of: id))
      }
    }
    // A service hides its descriptors, with its memory, from other processes of its user.
    return hidden.isEmpty ? nil : ListeningProcess(id: hidden.count == 1 ? hidden[0] : nil, name: "take5")
  }

  /// The listening sockets in a table of the kernel, as /proc/ID/fd names them, with their users (proc_pid_net(5)).
  static func sockets(port: UInt16, in table: String) -> [(name: String, user: String)] {
    let digits = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
    return table.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      // 0A is the state TCP_LISTEN.
      guard fields.count > 9, fields[1].hasSuffix(suffix), fields[3] == "0A" else { return nil }
      return ("socket:[\(fields[9])]", String(fields[7]))
    }
  }

  private static func name(of process: Int32) -> String {
    String(text("/proc/\(process)/comm").prefix { $0 != "\n" })
  }

  /// The user id, in digits; empty if the process has ended (proc_pid_status(5)).
  private static func user(of process: Int32) -> String {
    let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("Uid:") }
    return line.map { $0.split(whereSeparator: \.isWhitespace) }.flatMap { $0.count > 1 ? String($0[1]) : nil } ?? ""
  }

  private static func text(_ path: String) -> String {
    guard let file = try? Descriptor(reading: path) else { return "" }
    return (try? file.bytes(count: 1 << 20, at: 0)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func link(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    let count = readlink(path, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
