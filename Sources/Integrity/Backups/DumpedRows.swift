package import Crypto
import Glibc

/// The rows of a dump, read from the script that `pg_restore --data-only` writes: their number in each table, and the
/// blobs that are files.
///
/// The script has the rows as COPY writes them: a line for each, with a tab between columns, up to a line `\.`.
package struct DumpedRows: Sendable {
  /// The number of rows of each table, without the name of its schema.
  package private(set) var rows: [String: Int] = [:]
  /// The number of blobs that are files, and of their bytes.
  package private(set) var blobs = 0
  package private(set) var bytes: Int64 = 0

  // By the first byte of the hash, 40 bytes for each: the hash and the length. A store may have millions.
  private var shards = [[UInt8]](repeating: [], count: 256)
  private var block: Block?
  /// The start of the present line. The columns that are read are the first ones; a blob in its row makes a long line.
  private var line: [UInt8] = []
  private static let maxLine = 1024

  private enum Block {
    /// The columns of `blob`: where the hash, the length and the content are.
    case blob(hash: Int, bytes: Int, content: Int)
    case other(table: String)
  }

  package init() {}

  /// Reads the next part of the script.
  package mutating func read(_ part: UnsafeRawBufferPointer) throws(UnreadableDump) {
    var rest = part
    while let start = rest.baseAddress, !rest.isEmpty {
      let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { start.distance(to: UnsafeRawPointer($0)) }
      let count = min(end ?? rest.count, Self.maxLine - line.count)
      line += UnsafeRawBufferPointer(rebasing: rest[..<count])
      guard let end else { return }
      try readLine()
      line.removeAll(keepingCapacity: true)
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  /// Throws unless the script has ended after the rows of a table, and has had a table of blobs.
  package func checkEnd() throws(UnreadableDump) {
    guard block == nil, rows["blob"] != nil else { throw UnreadableDump("it has no complete table of blobs") }
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

  private mutating func readLine() throws(UnreadableDump) {
    guard let block else {
      if line.starts(with: "COPY ".utf8) { try begin() }
      return
    }
    if line.elementsEqual("\\.".utf8) {
      self.block = nil
      return
    }
    switch block {
    case .other(let table): rows[table, default: 0] += 1
    case .blob(let hash, let bytes, let content):
      rows["blob", default: 0] += 1
      try readBlob(hash: hash, bytes: bytes, content: content)
    }
  }

  /// Reads `COPY public.blob (hash, bytes) FROM stdin;`.
  private mutating func begin() throws(UnreadableDump) {
    let words = String(decoding: line.dropFirst(5), as: UTF8.self)
    guard let space = words.firstIndex(of: " ") else { throw UnreadableDump("a line is not that of a table: \(words)") }
    let table = String(words[..<space].split(separator: ".").last ?? "").filter { $0 != "\"" }
    rows[table] = rows[table] ?? 0
    guard table == "blob" else {
      block = .other(table: table)
      return
    }
    let list = words[space...].drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    let columns = list.split(separator: ",").map { $0.filter { $0 != " " } }
    guard let hash = columns.firstIndex(of: "hash"), let bytes = columns.firstIndex(of: "bytes"),
      let content = columns.firstIndex(of: "inline_content")
    else { throw UnreadableDump("the table of blobs has the columns \(list)") }
    block = .blob(hash: hash, bytes: bytes, content: content)
  }

  private mutating func readBlob(hash: Int, bytes: Int, content: Int) throws(UnreadableDump) {
    let columns = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    guard columns.count > max(hash, bytes, content), columns[hash].starts(with: "\\\\x".utf8),
      let digest = SHA256Digest(hex: String(decoding: columns[hash].dropFirst(3), as: UTF8.self)),
      let length = Int64(String(decoding: columns[bytes], as: UTF8.self))
    else { throw UnreadableDump("a row of the table of blobs cannot be read") }
    // A blob with content is in its row.
    guard columns[content].elementsEqual("\\N".utf8) else { return }
    let shard = Int(digest.bytes[0])
    shards[shard] += digest.bytes
    shards[shard] += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    blobs += 1
    self.bytes &+= length
  }
}

/// The reason why a dump cannot be read.
package struct UnreadableDump: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
