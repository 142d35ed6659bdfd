import Crypto

/// The blobs of a dump that are sources, read from the script that `pg_restore --data-only` writes of the tables that refer to blobs.
package struct DumpedSources: DumpReader {
  /// The tables that refer to blobs, by columns `role` and `blob`.
  package static let tables = ["asset", "quarantined_input"]

  // The first eight bytes of each hash: a store may have millions. An output that shares them with a source costs a file that is not needed.
  private var starts: Set<UInt64> = []
  private var script = CopyScript()
  /// Where the columns of the present table are; nil: it is another one.
  private var columns: (role: Int, blob: Int)?

  package init() {}

  /// Reads the next part of the script.
  package mutating func read(_ bytes: UnsafeRawBufferPointer) throws(UnreadableDump) {
    // The closure changes the reader.
    var script = script
    defer { self.script = script }
    try script.read(bytes) { (part, line) throws(UnreadableDump) in
      switch part {
      case .table(let name, let names): try begin(name, names)
      case .row: try readRow(line)
      }
    }
  }

  func contains(_ hash: SHA256Digest) -> Bool { starts.contains(Self.start(of: hash)) }

  private mutating func begin(_ table: String, _ names: [String]) throws(UnreadableDump) {
    columns = nil
    guard Self.tables.contains(table) else { return }
    guard let role = names.firstIndex(of: "role"), let blob = names.firstIndex(of: "blob") else {
      throw UnreadableDump("the table \(table) has the columns \(names.joined(separator: ", "))")
    }
    columns = (role, blob)
  }

  private mutating func readRow(_ line: [UInt8]) throws(UnreadableDump) {
    guard let columns else { return }
    let row = CopyScript.columns(of: line)
    guard row.count > max(columns.role, columns.blob), let hash = CopyScript.hash(in: row[columns.blob]) else {
      throw UnreadableDump("a row that refers to a blob cannot be read")
    }
    if row[columns.role].starts(with: "source.".utf8) { starts.insert(Self.start(of: hash)) }
  }

  private static func start(of hash: SHA256Digest) -> UInt64 {
    hash.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
