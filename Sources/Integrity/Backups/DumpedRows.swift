package import Crypto

/// The rows of a dump, read from the script that `pg_restore --data-only` writes: their number in each table, and the
/// blobs that are files.
package struct DumpedRows: DumpReader {
  /// The number of rows of each table, without the name of its schema.
  package private(set) var rows: [String: Int] = [:]
  /// The number of blobs that are files, and of their bytes.
  package private(set) var blobs = 0
  package private(set) var bytes: Int64 = 0

  private let sources: DumpedSources
  // By the first byte of the hash, 40 bytes for each: the hash and the length. A store may have millions.
  private var shards = [[UInt8]](repeating: [], count: 256)
  private var script = CopyScript()
  private var block: Block?

  private enum Block {
    /// The columns of `blob`: where the hash, the length and the content are.
    case blob(hash: Int, bytes: Int, content: Int)
    case other(table: String)
  }

  /// - Parameter sources: the sources of the same dump.
  package init(sources: DumpedSources) { self.sources = sources }

  /// Reads the next part of the script.
  package mutating func read(_ bytes: UnsafeRawBufferPointer) throws(UnreadableDump) {
    // The closure changes the reader.
    var script = script
    defer { self.script = script }
    try script.read(bytes) { (part, line) throws(UnreadableDump) in
      switch part {
      case .table(let name, let columns): try begin(name, columns)
      case .row: try readRow(line)
      }
    }
  }

  /// Throws unless the script has ended after the rows of a table, and has had a table of blobs.
  package func checkEnd() throws(UnreadableDump) {
    guard !script.isInTable, rows["blob"] != nil else { throw UnreadableDump("it has no complete table of blobs") }
  }

  /// The blobs whose hashes begin with a byte, with their lengths.
  package func blobs(ofShard shard: UInt8) -> [SHA256Digest: Int64] {
    let entries = shards[Int(shard)]
    var blobs: [SHA256Digest: Int64] = [:]
    for start in stride(from: 0, to: entries.count, by: SHA256Digest.count + 8) {
      let end = start + SHA256Digest.count
      guard let hash = SHA256Digest(bytes: Array(entries[start..<end])) else { continue }
      blobs[hash] = entries[end..<end + 8].reduce(0) { $0 << 8 | Int64($1) }
    }
    return blobs
  }

  private mutating func begin(_ table: String, _ columns: [String]) throws(UnreadableDump) {
    rows[table] = rows[table] ?? 0
    guard table == "blob" else {
      block = .other(table: table)
      return
    }
    guard let hash = columns.firstIndex(of: "hash"), let bytes = columns.firstIndex(of: "bytes"),
      let content = columns.firstIndex(of: "inline_content")
    else { throw UnreadableDump("the table of blobs has the columns \(columns.joined(separator: ", "))") }
    block = .blob(hash: hash, bytes: bytes, content: content)
  }

  private mutating func readRow(_ line: [UInt8]) throws(UnreadableDump) {
    switch block {
    case .other(let table): rows[table, default: 0] += 1
    case .blob(let hash, let bytes, let content):
      rows["blob", default: 0] += 1
      try readBlob(CopyScript.columns(of: line), hash: hash, bytes: bytes, content: content)
    case nil: break
    }
  }

  private mutating func readBlob(
    _ columns: [ArraySlice<UInt8>], hash: Int, bytes: Int, content: Int
  ) throws(UnreadableDump) {
    guard columns.count > max(hash, bytes, content), let digest = CopyScript.hash(in: columns[hash]),
      let length = Int64(String(decoding: columns[bytes], as: UTF8.self))
    else { throw UnreadableDump("a row of the table of blobs cannot be read") }
    // A blob with content is in its row, and a source is a file as well.
    guard columns[content].elementsEqual("\\N".utf8) || sources.contains(digest) else { return }
    let shard = Int(digest.bytes[0])
    shards[shard] += digest.bytes
    shards[shard] += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    blobs += 1
    self.bytes &+= length
  }
}
