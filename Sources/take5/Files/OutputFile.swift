import Blobs
import Crypto
import Glibc
import Platform

/// An output file that appears under its name only once it is complete. If the process fails or is killed before that,
/// nothing stays behind.
struct OutputFile: ~Copyable {
  let path: String
  let file: OpenFile
  private let destination: Destination
  private let isReplacing: Bool

  /// The way in which the content gets to its path.
  private enum Destination {
    /// An unnamed file that is linked at the path (open(2), O_TMPFILE).
    case unnamed
    /// A file with a temporary name that is renamed, for a file system without O_TMPFILE.
    case partial(String)
    /// A device or a pipe, to which the finished content is copied.
    case stream
    case standardOutput
  }

  /// The names of standard output: a new file must not replace the one that the shell has opened.
  private static let standardOutputs: Set<String> = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

  /// Whether a path means standard output; then nothing but the file may be written to it.
  static func isStandardOutput(_ path: String) -> Bool { standardOutputs.contains(path) }

  /// Endings of names that say what a file is; programs open it by them.
  private static let mediaEndings: Set<String> = [
    "jpg", "jpeg", "png", "webp", "avif", "heic", "heif", "gif", "bmp", "tif", "tiff", "mp4", "m4v", "mov", "3gp",
    "mkv",
    "webm", "avi", "mp3", "m4a", "wav",
  ]

  /// Refuses a name that ends like one of another format than the one that is written, with status 64. Other endings say nothing.
  ///
  /// - Parameter endings: the endings of the format, the usual one first.
  static func check(_ path: String, is format: String, endings: [String]) throws(CommandFailure) {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return }
    let ending = name[name.index(after: dot)...].lowercased()
    guard mediaEndings.contains(ending), !endings.contains(ending) else { return }
    throw CommandFailure(
      .usage, "the output is \(format), and \(path) ends like another format",
      remedy: "choose a name that ends in .\(endings[0])")
  }

  /// Opens a file for `path`. Status 74 if the folder cannot be written to or the path exists, 64 if the path is an
  /// input.
  ///
  /// A symbolic link is followed: its target is replaced.
  ///
  /// - Parameters:
  ///   - isReplacing: whether an existing file is replaced.
  ///   - inputs: the files that are never replaced.
  init(path: String, replacing isReplacing: Bool, protecting inputs: Set<FileIdentity>) throws(CommandFailure) {
    self.isReplacing = isReplacing
    if Self.isStandardOutput(path) {
      file = try Self.opened("/tmp") { () throws(SystemError) in try Descriptor(unnamedIn: "/tmp") }
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
            .usage, "\(path) is an input and cannot be replaced", remedy: "choose another output file")
        }
        guard isReplacing else { throw Self.exists(path) }
      }
      let target = Self.target(of: path)
      let folder = Self.folder(of: target)
      if let unnamed = try? Descriptor(unnamedIn: folder) {
        file = OpenFile(unnamed)
        destination = .unnamed
      } else {
        // The file system has no O_TMPFILE, or the folder cannot be written to: this open reports the error.
        let partial = Self.temporaryName(target)
        file = try Self.opened(path) { () throws(SystemError) in try Descriptor(writing: partial, replacing: true) }
        destination = .partial(partial)
      }
      self.path = target
    case S_IFDIR:
      throw CommandFailure(.io, "\(path) is a folder, not a file", remedy: "pass the path of a file in it")
    default:
      file = try Self.opened("/tmp") { () throws(SystemError) in try Descriptor(unnamedIn: "/tmp") }
      destination = .stream
      self.path = path
    }
  }

  /// Moves the file to its path. A file that appeared there meanwhile is replaced only if that is allowed.
  consuming func commit() throws(CommandFailure) {
    do {
      switch destination {
      case .standardOutput:
        return try Self.write(file.descriptor, to: 1)
      case .stream:
        // Write-only: a descriptor that can also read keeps the FIFO open for reading, so that EPIPE never comes.
        let number = open(path, O_WRONLY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(call: "open", subject: path) }
        let stream = Descriptor(owning: number)
        return try stream.write(contentOf: file.descriptor)
      case .unnamed:
        // The unnamed file is private so far: give it the mode that open(2) gives a new file.
        let mask = umask(0)
        umask(mask)
        fchmod(file.descriptor.number, 0o644 & ~mask)
        try file.descriptor.synchronize()
        if isReplacing, FileIdentity(ofPath: path) != nil {
          // linkat(2) does not replace a file: link it under a temporary name and rename that.
          let partial = Self.temporaryName(path)
          unlink(partial)
          try file.descriptor.link(at: partial)
          guard rename(partial, path) == 0 else {
            let error = SystemError(call: "rename", subject: path)
            unlink(partial)
            throw error
          }
        } else {
          try file.descriptor.link(at: path)
        }
      case .partial(let partial):
        try file.descriptor.synchronize()
        if isReplacing {
          guard rename(partial, path) == 0 else { throw SystemError(call: "rename", subject: path) }
        } else if link(partial, path) != 0 {
          throw SystemError(call: "link", subject: path)
        }
      }
    } catch {
      guard let error = error as? SystemError else { throw CommandFailure(.io, "\(path) cannot be written: \(error)") }
      if error.code == EEXIST { throw Self.exists(path) }
      if error.code == EPIPE { throw .closedOutput }
      throw Self.unwritable(path, error)
    }
  }

  /// Writes bytes to an open file; status 74 if that fails.
  static func write(_ bytes: [UInt8], to file: OpenFile, at path: String) throws(CommandFailure) {
    do { try file.descriptor.write(bytes) } catch { throw unwritable(path, error) }
  }

  /// Copies a blob to an open file, and compares what was written with the hash.
  static func write(
    _ blobs: any BlobStore, _ hash: SHA256Digest, bytes: Int64, to file: OpenFile, at path: String
  ) throws {
    let content = try blobs.open(hash, bytes: bytes)
    do {
      try file.descriptor.write(contentOf: content)
      guard try SHA256.digest(of: file.descriptor) == hash else { throw BlobError.damaged(hash, .corrupt) }
    } catch let error as SystemError {
      throw unwritable(path, error)
    }
  }

  /// The failure for a file that cannot be written.
  static func unwritable(_ path: String, _ error: SystemError) -> CommandFailure {
    CommandFailure(
      .io, "\(path) cannot be written: \(error.reason)",
      remedy: error.isOutOfSpace
        ? "free space on the device and try again" : "check that the folder exists and that you may write to it")
  }

  private static func exists(_ path: String) -> CommandFailure {
    CommandFailure(.io, "\(path) already exists", remedy: "use --force to replace it")
  }

  // After a rename the temporary name no longer exists, and unlink(2) fails without effect.
  deinit { if case .partial(let partial) = destination { unlink(partial) } }

  private static func opened(
    _ path: String, _ open: () throws(SystemError) -> Descriptor
  ) throws(CommandFailure) -> OpenFile {
    do { return OpenFile(try open()) } catch { throw unwritable(path, error) }
  }

  private static func write(_ content: borrowing Descriptor, to number: Int32) throws(SystemError) {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(call: "fcntl", subject: "standard output") }
    try Descriptor(owning: copy).write(contentOf: content)
  }

  private static func temporaryName(_ path: String) -> String {
    let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    return "\(folder(of: path))/.\(name).\(getpid()).partial"
  }

  /// The path before the last slash; `.` if there is none.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The absolute path, with symbolic links resolved, of the file at `path` or of the file that would be created there.
  static func target(of path: String) -> String {
    if let resolved = try? Folder.resolved(path) { return resolved }
    guard let folder = try? Folder.resolved(folder(of: path)) else { return path }
    return "\(folder)/\(path.split(separator: "/").last ?? "")"
  }
}

extension Arguments {
  /// Prints a line about an output: on standard output, or on standard error if the output itself goes to standard
  /// output.
  func printResult(_ line: String, writing destination: String?) throws(CommandFailure) {
    if let destination, OutputFile.isStandardOutput(destination) { Console.note(line) } else { try Console.print(line) }
  }
}
