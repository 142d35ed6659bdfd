import Glibc
import Platform

extension ConfigurationFile {
  /// Reads the file that `--config` or its variable names, otherwise the standard one if it exists.
  ///
  /// - Parameters:
  ///   - isRequired: whether a standard file that this user may not read is a problem. A client needs nothing of it.
  ///   - standard: the path of the standard file.
  static func read(
    _ arguments: Arguments, isRequired: Bool, standard: String = standardPath
  ) -> ConfigurationFile? {
    let named = arguments.value(Option.configuration.name)
    let path = named ?? standard
    do throws(SystemError) {
      return ConfigurationFile(path: path, try Descriptor(reading: path).bytes(count: maxSize + 1, at: 0))
    } catch {
      if named == nil, error.code == ENOENT || error.code == ENOTDIR || error.code == EACCES && !isRequired {
        return nil
      }
      return ConfigurationFile(
        path: path,
        unreadable: Problem(
          line: nil, message: "the file cannot be read: \(error)",
          remedy: "check the path of --config and TAKE5_CONFIG, and the permissions of the file"))
    }
  }
}

/// A file whose first line is a secret, such as a key or the URL of a database.
struct SecretFile: Sendable {
  let path: String

  /// The first line; status 64 if it is empty, 66 if the file cannot be read.
  ///
  /// - Parameter option: the option that names the file.
  func line(of option: Option) throws(CommandFailure) -> String {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Descriptor(reading: path).bytes(count: 4096, at: 0)
    } catch {
      throw CommandFailure(
        .inputMissing, "the file of \(option.name) cannot be read: \(error)",
        remedy: "check the path of \(option.name) and the permissions of the file")
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    guard !line.isEmpty else {
      throw CommandFailure(
        .usage, "the first line of \(path) is empty", remedy: "write the value of \(option.name) into the first line")
    }
    return line
  }

  /// Whether every user of the machine may read the file; false if it does not exist.
  var isReadableByAll: Bool { FileRights(path)?.mode ?? 0 & S_IROTH != 0 }
}

/// Who owns a file, and who may read and write it.
struct FileRights: Sendable, Hashable {
  let owner: uid_t
  let mode: mode_t

  /// Nil if the file does not exist.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (owner, mode) = (status.st_uid, status.st_mode)
  }

  init(owner: uid_t, mode: mode_t) {
    self.owner = owner
    self.mode = mode
  }
}
