import Crypto
import Integrity
import Testing

/// The script of `pg_restore --data-only`, from which the blobs of a dump are read.
@Suite("Rows of a dump")
struct DumpedRowsTests {
  private static let hashes = ["one", "two", "three"].map { SHA256.digest(of: Array($0.utf8)) }

  private static let script = """
    \\restrict XYZ
    SET statement_timeout = 0;
    COPY public.note (body) FROM stdin;
    COPY public.blob (hash, bytes, inline_content) FROM stdin;
    \\\\x00\t1\t\\N
    \\.

    COPY public.blob (hash, bytes, inline_content, created_at) FROM stdin;
    \\\\x\(hashes[0])\t5000000000\t\\N\t2026-11-26 10:00:00+00
    \\\\x\(hashes[1])\t300000\t\\\\x\(String(repeating: "ab", count: 300_000))\t2026-11-26 10:00:00+00
    \\\\x\(hashes[2])\t3\t\\N\t2026-11-26 10:00:00+00
    \\.

    COPY public.post (id) FROM stdin;
    1
    2
    \\.
    SELECT pg_catalog.setval('public.post_id_seq', 2, true);

    """

  private func read(_ script: String, parts size: Int) throws -> DumpedRows {
    var rows = DumpedRows()
    var rest = Array(script.utf8)[...]
    while !rest.isEmpty {
      try Array(rest.prefix(size)).withUnsafeBytes { try rows.read($0) }
      rest = rest.dropFirst(size)
    }
    try rows.checkEnd()
    return rows
  }

  @Test(
    "the blobs that are files are read with their lengths, and the rows of each table counted, whatever the parts",
    arguments: [1, 7, 4096, 1 << 20])
  func parts(size: Int) throws {
    let rows = try read(Self.script, parts: size)
    #expect(rows.rows == ["note": 2, "blob": 3, "post": 2])
    #expect(rows.blobs == 2 && rows.bytes == 5_000_000_003)
    let blobs = (UInt8.min...UInt8.max).flatMap { rows.blobs(ofShard: $0) }
    #expect(Dictionary(uniqueKeysWithValues: blobs) == [Self.hashes[0]: 5_000_000_000, Self.hashes[2]: 3])
    #expect(rows.blobs(ofShard: Self.hashes[0].bytes[0])[Self.hashes[0]] == 5_000_000_000)
  }

  @Test("a script that ends early, has no table of blobs, or other columns is not read")
  func damaged() {
    let end = Self.script.firstRange(of: "\\.\n\nCOPY public.post")
    let cut = end.map { String(Self.script[..<$0.lowerBound]) } ?? ""
    for script in [
      cut, "", "COPY public.post (id) FROM stdin;\n1\n\\.\n",
      Self.script.replacing("inline_content, created_at", with: "content, created_at"),
      Self.script.replacing("\t5000000000\t", with: "\tmany\t"),
    ] {
      #expect(throws: UnreadableDump.self) { try read(script, parts: 4096) }
    }
  }
}
