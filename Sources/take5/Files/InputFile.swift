import Glibc
import Model
import Platform

/// A regular file that a command reads.
struct InputFile {
  let name: InputName
  let path: String
  let file: OpenFile
  let identity: FileIdentity

  /// Opens the file; status 66 if it does not exist, cannot be read or is not seekable, such as a folder or a pipe.
  init(_ name: InputName, path: String) throws(CommandFailure) {
    let file = try Self.opened(path)
    do { identity = try FileIdentity(of: file) } catch { throw Self.unreadable(path, error) }
    self.file = OpenFile(file)
    self.name = name
    self.path = path
  }

  private static func opened(_ path: String) throws(CommandFailure) -> Descriptor {
    guard path != "-" else {
      throw CommandFailure(
        .inputMissing, "-: an input cannot be standard input, which is not seekable",
        remedy: "save it to a file and pass the path of the file; write ./- for a file of that name")
    }
    do {
      // Opening a FIFO blocks until a process opens it for writing: the type is checked first.
      let kind = try FileIdentity.kind(of: path)
      guard kind == S_IFREG else { throw notRegular(path, kind) }
      return try Descriptor(reading: path)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw unreadable(path, error)
    }
  }

  /// Reads at most `count` bytes from the start.
  func prefix(_ count: Int) throws(CommandFailure) -> [UInt8] {
    do { return try file.descriptor.bytes(count: count, at: 0) } catch { throw Self.unreadable(path, error) }
  }

  private static func unreadable(_ path: String, _ error: any Error) -> CommandFailure {
    let reason = (error as? SystemError)?.reason ?? "\(error)"
    return CommandFailure(
      .inputMissing, "\(path) cannot be read: \(reason)", remedy: "check the path and the permissions of the file")
  }

  private static func notRegular(_ path: String, _ kind: mode_t) -> CommandFailure {
    kind == S_IFDIR
      ? CommandFailure(.inputMissing, "\(path) is a folder, not a file", remedy: "pass the path of a file in it")
      : CommandFailure(
        .inputMissing, "\(path) is a pipe or a device, which is not seekable",
        remedy: "save its content to a file and pass the path of the file")
  }
}

/// The device and inode of a file, which all its names share.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  init(of descriptor: borrowing Descriptor) throws(SystemError) {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw SystemError(call: "fstat") }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// Follows symbolic links; nil if nothing exists at the path.
  init?(ofPath path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// The type of the file at a path, such as `S_IFREG` or `S_IFDIR`; follows symbolic links.
  static func kind(of path: String) throws(SystemError) -> mode_t {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError(call: "stat", subject: path) }
    return status.st_mode & S_IFMT
  }
}

/// A text that a command reads from a file, a pipe or standard input.
enum InputText {
  private static let maxBytes = 16 << 20

  /// Reads at most 16 MiB; `-` is standard input.
  ///
  /// - Parameter status: the command's exit status if it cannot be read.
  static func read(_ path: String, otherwise status: ExitStatus = .inputMissing) throws(CommandFailure) -> [UInt8] {
    do {
      return try bytes(path)
    } catch {
      throw CommandFailure(
        status, "\(path) cannot be read: \(error.reason)",
        remedy: "check the path and the permissions of the file")
    }
  }

  private static func bytes(_ path: String) throws(SystemError) -> [UInt8] {
    let file = path == "-" ? Descriptor(owning: dup(0)) : try Descriptor(reading: path)
    let number = file.number
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < maxBytes {
      let count = part.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
      if count == 0 { break }
      if count > 0 { bytes += part.prefix(count) } else if errno != EINTR { throw SystemError(call: "read") }
    }
    return bytes
  }
}
