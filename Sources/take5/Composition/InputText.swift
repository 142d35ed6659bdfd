import Glibc
import Platform

/// A text named on the command line, be it a file or a pipe.
enum InputText {
  private static let most = 16 << 20

  /// Reads it whole; `-` is standard input. Status 66 if it cannot be read.
  static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
    do {
      return try bytes(path)
    } catch {
      throw CommandFailure(
        .inputMissing, "\(path) cannot be read: \(error.reason)",
        remedy: "check the path and that you may read the file")
    }
  }

  private static func bytes(_ path: String) throws(SystemError) -> [UInt8] {
    let file = path == "-" ? Descriptor(owning: dup(0)) : try Descriptor(reading: path)
    let number = file.number
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < most {
      let count = part.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
      if count == 0 { break }
      if count > 0 { bytes += part.prefix(count) } else if errno != EINTR { throw SystemError(call: "read") }
    }
    return bytes
  }
}
