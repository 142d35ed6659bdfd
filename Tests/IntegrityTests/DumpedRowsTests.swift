import Crypto
import Integrity
import Testing

/// The script of `pg_restore --data-only`, from which the blobs of a dump are read.
@Suite("Rows of a dump")
struct DumpedRowsTests {
  private static let hashes = ["one", "two", "three", "four", "five"].map { SHA256.digest(of: Array($0.utf8)) }

  private static let script = """
    \\restrict XYZ
    SET statement_timeout = 0;
    COPY public.note (body) FROM stdin;
    COPY public.blob (hash, bytes, inline_content) FROM stdin;
    \\\\x00\t1\t\\N
    \\.

    COPY public.asset (id, role, place, blob, type) FROM stdin;
    1\tsource.front\t0\t\\\\x\(hashes[0])\tvideo/mp4
    2\tsource.photo\t0\t\\\\x\(hashes[3])\timage/jpeg
    3\tposter\t0\t\\\\x\(hashes[3])\timage/jpeg
    4\tposter\t0\t\\\\x\(hashes[1])\timage/jpeg
    \\.

    COPY public.blob (hash, bytes, inline_content, created_at) FROM stdin;
    \\\\x\(hashes[0])\t5000000000\t\\N\t2026-11-26 10:00:00+00
    \\\\x\(hashes[1])\t300000\t\\\\x\(String(repeating: "ab", count: 300_000))\t2026-11-26 10:00:00+00
    \\\\x\(hashes[2])\t3\t\\N\t2026-11-26 10:00:00+00
    \\\\x\(hashes[3])\t4\t\\\\x01020304\t2026-11-26 10:00:00+00
    \\\\x\(hashes[4])\t5\t\\\\x0102030405\t2026-11-26 10:00:00+00
    \\.

    COPY public.post (id) FROM stdin;
    1
    2
    \\.
    COPY public.quarantined_input (inputs, role, blob) FROM stdin;
    \\\\x00\tsource.photo\t\\\\x\(hashes[4])
    \\.
    SELECT pg_catalog.setval('public.post_id_seq', 2, true);

    """

  private func read(_ script: String, parts size: Int) throws -> DumpedRows {
    let sources = try read(script, parts: size, into: DumpedSources())
    let rows = try read(script, parts: size, into: DumpedRows(sources: sources))
    try rows.checkEnd()
    return rows
  }

  private func read<Reader: DumpReader>(_ script: String, parts size: Int, into reader: Reader) throws -> Reader {
    var (reader, rest) = (reader, Array(script.utf8)[...])
    while !rest.isEmpty {
      try Array(rest.prefix(size)).withUnsafeBytes { try reader.read($0) }
      rest = rest.dropFirst(size)
    }
    return reader
  }

  @Test(
    "the blobs that are files are read with their lengths, sources with content in their rows among them, and the rows of each table counted, whatever the parts",
    arguments: [1, 7, 4096, 1 << 20])
  func parts(size: Int) throws {
    let rows = try read(Self.script, parts: size)
    #expect(rows.rows == ["note": 2, "asset": 4, "blob": 5, "post": 2, "quarantined_input": 1])
    #expect(rows.blobs == 4 && rows.bytes == 5_000_000_012)
    let blobs = (UInt8.min...UInt8.max).flatMap { rows.blobs(ofShard: $0) }
    #expect(
      Dictionary(uniqueKeysWithValues: blobs) == [
        Self.hashes[0]: 5_000_000_000, Self.hashes[2]: 3, Self.hashes[3]: 4, Self.hashes[4]: 5,
      ])
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
      Self.script.replacing("role, place, blob", with: "kind, place, blob"),
      Self.script.replacing("3\tposter\t0\t\\\\x", with: "3\tposter\t0\t"),
    ] {
      #expect(throws: UnreadableDump.self) { try read(script, parts: 4096) }
    }
  }
}
