import Glibc
package import Platform

/// A file in which a process writes down what it does, outside the database: what was written stays, whatever dies next.
package final class Ledger: Sendable {
  private let file: Descriptor
  private let process = getpid()

  /// Opens it for adding; made if it is missing.
  package init(_ path: String) throws(SystemError) {
    let number = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    file = Descriptor(owning: number)
  }

  /// Adds what happened at this moment, as one write, and waits until it lies on the disk.
  package func write(_ events: LedgerEvent...) throws(SystemError) { try write(events) }

  /// Adds what happened at this moment, as one write, and waits until it lies on the disk.
  package func write(_ events: [LedgerEvent], at moment: Moment = .now) throws(SystemError) {
    guard !events.isEmpty else { return }
    let lines = events.map { LedgerEntry(process: process, moment: moment, event: $0).line + "\n" }
    let bytes = Array(lines.joined().utf8)
    let count = bytes.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
    guard count == bytes.count, fdatasync(file.number) == 0 else { throw SystemError(call: "write", subject: "ledger") }
  }

  /// Reads every ledger in a folder, in the order of time; a line that a dying process left unfinished does not count.
  package static func read(folder: String) throws -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    for name in try Folder.names(in: folder) where name.hasSuffix(".ledger") {
      entries += try read("\(folder)/\(name)")
    }
    return entries.sorted { $0.moment.steady < $1.moment.steady }
  }

  /// Reads one ledger.
  package static func read(_ path: String) throws -> [LedgerEntry] {
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    let whole = text.hasSuffix("\n") ? text[...] : text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
    return try whole.split(separator: "\n").map { line in
      guard let entry = LedgerEntry(line) else {
        throw SystemError(call: "read", code: EINVAL, subject: "\(path): \(line)")
      }
      return entry
    }
  }
}
