import Crypto
import Glibc

/// The script that `pg_restore --data-only` writes. It has the rows as COPY writes them: a line for each, with a tab between columns, up to
/// a line `\.`.
struct CopyScript: Sendable {
  /// A part of the script that a reader wants.
  enum Part: Sendable {
    case table(String, columns: [String])
    /// A row of the last table; its columns are in `columns(of:)`.
    case row
  }

  /// The start of the present line. The columns that are read are the first ones; a blob in its row makes a long line.
  private var line: [UInt8] = []
  /// Whether rows follow, or more of them.
  private(set) var isInTable = false
  private static let maxLine = 1024

  /// Reads the next bytes of the script, and calls `receive` with each part that ends in them.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, _ receive: (Part, [UInt8]) throws(UnreadableDump) -> Void
  ) throws(UnreadableDump) {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { start.distance(to: UnsafeRawPointer($0)) }
      let count = min(end ?? rest.count, Self.maxLine - line.count)
      line += UnsafeRawBufferPointer(rebasing: rest[..<count])
      guard let end else { return }
      if !isInTable {
        if let table = try table() {
          isInTable = true
          try receive(table, line)
        }
      } else if line.elementsEqual("\\.".utf8) {
        isInTable = false
      } else {
        try receive(.row, line)
      }
      line.removeAll(keepingCapacity: true)
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  /// Reads `COPY public.blob (hash, bytes) FROM stdin;`; nil for another line.
  private func table() throws(UnreadableDump) -> Part? {
    guard line.starts(with: "COPY ".utf8) else { return nil }
    let words = String(decoding: line.dropFirst(5), as: UTF8.self)
    guard let space = words.firstIndex(of: " ") else {
      throw UnreadableDump("a line does not belong to a table: \(words)")
    }
    let name = String(words[..<space].split(separator: ".").last ?? "").filter { $0 != "\"" }
    let list = words[space...].drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    return .table(name, columns: list.split(separator: ",").map { $0.filter { $0 != " " } })
  }

  /// The columns of the line of a row.
  static func columns(of line: [UInt8]) -> [ArraySlice<UInt8>] {
    line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
  }

  /// The hash in a column; nil: it is none.
  static func hash(in column: ArraySlice<UInt8>) -> SHA256Digest? {
    guard column.starts(with: "\\\\x".utf8) else { return nil }
    return SHA256Digest(hex: String(decoding: column.dropFirst(3), as: UTF8.self))
  }
}

/// What reads the script of a dump.
package protocol DumpReader: Sendable {
  /// Reads the next part of the script.
  mutating func read(_ bytes: UnsafeRawBufferPointer) throws(UnreadableDump)
}

/// The reason why a dump cannot be read.
package struct UnreadableDump: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
