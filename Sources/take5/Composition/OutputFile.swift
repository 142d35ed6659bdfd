import Glibc
import Platform

/// A file that gets its name only when it is whole; whatever happens before, a kill too, leaves nothing behind.
struct OutputFile: ~Copyable {
  let path: String
  let descriptor: Descriptor
  private let destination: Destination
  private let isReplacing: Bool

  /// How the bytes come under their name.
  private enum Destination {
    /// They have no name until then (open(2), O_TMPFILE).
    case unnamed
    /// They have one that says unfinished, where the file system knows no files without.
    case partial(String)
    /// It is a device or a pipe, which gets the bytes at the end.
    case stream
    case standardOutput
  }

  /// `-` and what stands for it: a new file must not take the place of what the shell has opened.
  private static let standardOutputs: Set<String> = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

  /// Whether a path means standard output, which holds the file and nothing else then.
  static func isStandardOutput(_ path: String) -> Bool { standardOutputs.contains(path) }

  /// Opens a file that is to become `path`; status 74 if its folder cannot be written to, or if there is one already, and
  /// 64 if that is one of the inputs.
  ///
  /// A link is followed, so that what it points to is replaced.
  ///
  /// - Parameters:
  ///   - isReplacing: whether the path may be another file's by now.
  ///   - inputs: what is never replaced.
  init(path: String, replacing isReplacing: Bool, sparing inputs: Set<FileIdentity>) throws(CommandFailure) {
    self.isReplacing = isReplacing
    if Self.isStandardOutput(path) {
      descriptor = try Self.opened("/tmp") { () throws(SystemError) in try Descriptor(unnamedIn: "/tmp") }
      destination = .standardOutput
      self.path = "-"
      return
    }
    let kind = try? FileIdentity.kind(of: path)
    switch kind {
    case S_IFREG, nil:
      if let identity = FileIdentity(ofPath: path) {
        guard !inputs.contains(identity) else {
          throw CommandFailure(
            .usage, "\(path) is an input, and would be replaced", remedy: "write to another file")
        }
        guard isReplacing else { throw Self.isThere(path) }
      }
      let target = Self.target(of: path)
      let folder = Self.folder(of: target)
      if let unnamed = try? Descriptor(unnamedIn: folder) {
        descriptor = unnamed
        destination = .unnamed
      } else {
        // The error of the usual way is the one that tells what is wrong.
        let partial = Self.unfinished(target)
        descriptor = try Self.opened(path) { () throws(SystemError) in try Descriptor(writing: partial, replacing: true)
        }
        destination = .partial(partial)
      }
      self.path = target
    case S_IFDIR:
      throw CommandFailure(.io, "\(path) is a folder", remedy: "name a file in it")
    default:
      descriptor = try Self.opened("/tmp") { () throws(SystemError) in try Descriptor(unnamedIn: "/tmp") }
      destination = .stream
      self.path = path
    }
  }

  /// Gives the file its name; what came there meanwhile stays unless it may be replaced.
  consuming func commit() throws(CommandFailure) {
    do {
      switch destination {
      case .standardOutput:
        return try Self.write(descriptor, to: 1)
      case .stream:
        // For writing alone: who also reads a pipe never hears that its reader has gone.
        let number = open(path, O_WRONLY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(call: "open", subject: path) }
        let stream = Descriptor(owning: number)
        return try stream.write(contentOf: descriptor)
      case .unnamed:
        // Readable for whom the user's mask lets read; it was nobody's yet.
        let mask = umask(0)
        umask(mask)
        fchmod(descriptor.number, 0o644 & ~mask)
        try descriptor.synchronize()
        if isReplacing, FileIdentity(ofPath: path) != nil {
          // No call gives a file without a name the name of another: for a moment it has one of its own.
          let partial = Self.unfinished(path)
          unlink(partial)
          try descriptor.link(at: partial)
          guard rename(partial, path) == 0 else {
            let error = SystemError(call: "rename", subject: path)
            unlink(partial)
            throw error
          }
        } else {
          try descriptor.link(at: path)
        }
      case .partial(let partial):
        try descriptor.synchronize()
        if isReplacing {
          guard rename(partial, path) == 0 else { throw SystemError(call: "rename", subject: path) }
        } else if link(partial, path) != 0 {
          throw SystemError(call: "link", subject: path)
        }
      }
    } catch {
      guard let error = error as? SystemError else { throw CommandFailure(.io, "\(path) cannot be written: \(error)") }
      if error.code == EEXIST { throw Self.isThere(path) }
      if error.code == EPIPE { throw .closedOutput }
      throw Self.unwritable(path, error)
    }
  }

  /// What is said of a file that cannot be written.
  static func unwritable(_ path: String, _ error: SystemError) -> CommandFailure {
    CommandFailure(
      .io, "\(path) cannot be written: \(error.reason)",
      remedy: error.isOutOfSpace
        ? "make room on the device and try again" : "check that the folder exists and that you may write to it")
  }

  /// What is said of a file that may not be replaced.
  private static func isThere(_ path: String) -> CommandFailure {
    CommandFailure(.io, "\(path) is there already", remedy: "use --force to replace it")
  }

  // After a commit the partial name is gone already, and this finds nothing.
  deinit { if case .partial(let partial) = destination { unlink(partial) } }

  private static func opened(
    _ path: String, _ open: () throws(SystemError) -> Descriptor
  ) throws(CommandFailure) -> Descriptor {
    do { return try open() } catch { throw unwritable(path, error) }
  }

  private static func write(_ content: borrowing Descriptor, to number: Int32) throws(SystemError) {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(call: "fcntl", subject: "standard output") }
    try Descriptor(owning: copy).write(contentOf: content)
  }

  private static func unfinished(_ path: String) -> String {
    let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    return "\(folder(of: path))/.\(name).\(getpid()).partial"
  }

  /// The part of a path before its last slash; `.` if it has none.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The absolute path of what has a path, links followed, or of what would get it.
  static func target(of path: String) -> String {
    if let resolved = try? Folder.resolved(path) { return resolved }
    guard let folder = try? Folder.resolved(folder(of: path)) else { return path }
    return "\(folder)/\(path.split(separator: "/").last ?? "")"
  }
}
