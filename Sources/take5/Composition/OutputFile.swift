import Glibc
import Platform

/// A file that appears under its name only when it is whole; whatever happens before leaves nothing behind.
struct OutputFile: ~Copyable {
  let path: String
  let descriptor: Descriptor
  // The name it is written under; nil where the destination is a device or a pipe, which gets the bytes at the end.
  private let partial: String?

  /// Opens a file beside the one to be written; status 74 if the folder cannot be written.
  ///
  /// A link is followed, so that what it points to is replaced.
  init(path: String) throws(CommandFailure) {
    do {
      switch Self.kind(of: path) {
      case S_IFREG, nil:
        let target = Self.resolved(path)
        let partial = "\(Self.folder(of: target))/.\(Self.name(of: target)).\(getpid()).partial"
        descriptor = try Descriptor(writing: partial, replacing: true)
        self.partial = partial
        self.path = target
      case S_IFDIR: throw SystemError(call: "open", code: EISDIR, subject: path)
      default:
        descriptor = try Descriptor(unnamedIn: "/tmp")
        partial = nil
        self.path = path
      }
    } catch {
      throw CommandFailure(
        .io, "\(path) cannot be written: \(error)", remedy: "check that the folder exists and that you may write to it")
    }
  }

  /// Gives the file its name, replacing one that has it unless told otherwise.
  consuming func commit(replacing: Bool = true) throws(CommandFailure) {
    do {
      guard let partial else {
        return try Descriptor(writing: path, replacing: true).write(contentOf: descriptor)
      }
      try descriptor.synchronize()
      if replacing {
        guard rename(partial, path) == 0 else { throw SystemError(call: "rename", subject: path) }
      } else if link(partial, path) != 0 {
        // A link never replaces: what came there meanwhile stays.
        if errno == EEXIST { throw Self.isThere(path) }
        throw SystemError(call: "link", subject: path)
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.io, "\(path) cannot be written: \(error)")
    }
  }

  /// Whether anything has this path.
  static func exists(_ path: String) -> Bool { kind(of: path) != nil }

  /// What is said of a file that may not be replaced.
  static func isThere(_ path: String) -> CommandFailure {
    CommandFailure(.io, "\(path) is there already", remedy: "use --force to replace it")
  }

  // After a commit the partial name is gone already, and this finds nothing.
  deinit { if let partial { unlink(partial) } }

  /// The part of a path before its last slash; `.` if it has none.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  /// What lies at the end of a path, links followed; nil if nothing does.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
