import Glibc
import Model
import Platform

/// A file named on the command line, to be read.
struct InputFile: ~Copyable {
  let name: InputName
  let path: String
  let descriptor: Descriptor
  /// What tells the file from all others, whatever it is called.
  let identity: FileIdentity

  /// Opens the file; status 66 if there is none, or nothing that can be read from any place, as a folder or a pipe.
  init(_ name: InputName, path: String) throws(CommandFailure) {
    let file = try Self.opened(path)
    do { identity = try FileIdentity(of: file) } catch { throw Self.unreadable(path, error) }
    descriptor = file
    self.name = name
    self.path = path
  }

  private static func opened(_ path: String) throws(CommandFailure) -> Descriptor {
    do {
      // Opening a pipe waits for who writes to it.
      let kind = try FileIdentity.kind(of: path)
      guard kind == S_IFREG else { throw unfit(path, kind) }
      return try Descriptor(reading: path)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw unreadable(path, error)
    }
  }

  /// At most so many bytes from the start.
  func start(_ count: Int) throws(CommandFailure) -> [UInt8] {
    do { return try descriptor.bytes(count: count, at: 0) } catch { throw Self.unreadable(path, error) }
  }

  private static func unreadable(_ path: String, _ error: any Error) -> CommandFailure {
    let reason = (error as? SystemError)?.reason ?? "\(error)"
    return CommandFailure(
      .inputMissing, "\(path) cannot be read: \(reason)", remedy: "check the path and that you may read the file")
  }

  private static func unfit(_ path: String, _ kind: mode_t) -> CommandFailure {
    kind == S_IFDIR
      ? CommandFailure(.inputMissing, "\(path) is a folder", remedy: "name the file in it")
      : CommandFailure(
        .inputMissing, "\(path) is a pipe or a device", remedy: "save it as a file: media are read from any place in it"
      )
  }
}

/// What tells one file from all others on this machine, whatever names it has.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  init(of descriptor: borrowing Descriptor) throws(SystemError) {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw SystemError(call: "fstat") }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// Of what lies at the end of a path, links followed; nil if nothing does.
  init?(ofPath path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// What lies at the end of a path, links followed: `S_IFREG`, `S_IFDIR`...
  static func kind(of path: String) throws(SystemError) -> mode_t {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError(call: "stat", subject: path) }
    return status.st_mode & S_IFMT
  }
}
