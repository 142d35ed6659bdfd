import Glibc
import Platform

/// The log of the server, which also has values that users sent, as in a violated constraint: its size and its age are bounded.
struct ServerLog {
  static let maxBytes: Int64 = 8 << 20
  /// The seconds after which the log is rotated whatever its size: what it says is gone after twice that time.
  static let maxAge = 7 * 86_400

  let path: String

  private var former: String { "\(path).1" }

  /// Opens the log for appending, and rotates it first if that is due.
  func open() throws(SystemError) -> Descriptor {
    rotate()
    let number = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    return Descriptor(owning: number)
  }

  /// Copies a log that is large or old to its former one, and empties it. The server goes on in the same file, at its new end.
  ///
  /// If it fails, as on a full disk, it is repeated later. What the server writes between the copy and its end is lost.
  func rotate() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    guard Self.isDue(bytes: Int64(status.st_size), rotated: rotated(), now: time(nil)) else { return }
    let number = Glibc.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { return }
    let log = Descriptor(owning: number)
    do throws(SystemError) {
      _ = unlink(former)
      try Descriptor(writing: former, replacing: false, mode: 0o600).write(contentOf: log)
      guard ftruncate(log.number, 0) == 0 else { throw SystemError(call: "ftruncate", subject: path) }
    } catch {
      return
    }
  }

  /// Whether a log is rotated.
  ///
  /// - Parameters:
  ///   - rotated: the time of the last rotation, in seconds since 1970.
  ///   - now: the present time.
  static func isDue(bytes: Int64, rotated: Int, now: Int) -> Bool {
    guard bytes > 0 else { return false }
    return bytes > maxBytes || rotated < now - maxAge
  }

  /// The time of the last rotation, which the former log shows. Without one, the time counts from now on.
  private func rotated() -> Int {
    var status = stat()
    if lstat(former, &status) == 0 { return status.st_mtim.tv_sec }
    let number = Glibc.open(former, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if number >= 0 { close(number) }
    return time(nil)
  }
}
