import BlobTesting
import Blobs
import Crypto
import Definitions
import EmbeddedPostgres
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import Telemetry
import Testing

/// A blob may be in its row and in a file: a source that equals a small output.
@Suite("Blobs in two places", .tags(.database), .timeLimit(.minutes(60)))
struct TwoPlacesTests {
  /// What refers to a blob, in the order in which it came.
  private enum Use: CaseIterable {
    case source, output, outputAndSource, sourceAndOutput, outputOfTwo, sourceOfTwo, outputAndSourceOfTwo, quarantined,
      outputAndQuarantined
    case formerSourceAndOutput, sourceAndFormerOutput

    var isSource: Bool {
      switch self {
      case .output, .outputOfTwo, .formerSourceAndOutput: false
      default: true
      }
    }

    var isOutput: Bool { ![.source, .sourceOfTwo, .quarantined].contains(self) }
  }

  /// What became of the places of a blob.
  private enum Damage: CaseIterable {
    case none, fileMissing, fileChanged, fileCut, rowChanged, fileMissingAndRowChanged

    func applies(to use: Use) -> Bool {
      switch self {
      case .none: true
      case .fileMissing, .fileChanged, .fileCut: use.isSource
      case .rowChanged: use.isOutput && use != .formerSourceAndOutput
      case .fileMissingAndRowChanged: use.isSource && use.isOutput
      }
    }
  }

  private struct Case {
    let use: Use
    let damage: Damage

    var text: String { "\(use) \(damage)" }
    var hash: SHA256Digest { IntegrityFixture.hash(text) }
    /// Whether neither place has the bytes.
    var isLost: Bool {
      switch damage {
      case .none: false
      case .fileMissing, .fileChanged, .fileCut: !use.isOutput
      case .rowChanged: !use.isSource
      case .fileMissingAndRowChanged: true
      }
    }

    static let all = Use.allCases.flatMap { use in
      Damage.allCases.filter { $0.applies(to: use) }.map { Case(use: use, damage: $0) }
    }
  }

  /// Submits a moment and publishes its outputs, with a blob as its front clip, its poster, or neither.
  @discardableResult
  private static func post(
    _ fixture: IntegrityFixture, source: String? = nil, output: String? = nil
  ) async throws -> PublicID {
    let (store, name) = (fixture.store, "\(PublicID.now())")
    let sources = [
      NewAsset(role: .sourceFront, type: "video/quicktime", content: try fixture.seal(source ?? "front \(name)")),
      NewAsset(role: .sourceBack, type: "video/quicktime", content: try fixture.seal("back \(name)")),
    ]
    let definition = try Definitions.take5Post()
    let id = try await store.transaction(publishing: sources, fixture.pool) { session in
      try store.submitPost(
        PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
    }
    let job = try #require(
      await fixture.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first
      })
    let outputs = try definition.madeRoles.map { role in
      let text = role == .poster ? output : nil
      let isVideo = [.composed, .clipFront, .clipBack].contains(role)
      return NewAsset(
        role: role, type: isVideo ? "video/mp4" : "image/jpeg",
        content: try fixture.seal(text ?? "\(role.rawValue) \(name)"), width: 1080, height: 1920,
        duration: isVideo ? 5 : nil)
    }
    try await store.transaction(publishing: outputs, fixture.pool) { session in
      let work = try #require(try store.work(for: job, session))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: [1]), job: job,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
    }
    return id
  }

  /// Deletes a post, whose blobs that nothing else refers to are collected.
  private static func delete(_ id: PublicID, _ fixture: IntegrityFixture) async throws {
    try await fixture.pool.transaction { session in _ = try Posts.delete(id, for: .unrestricted, session) }
    try await fixture.store.collecting.collectReleased(fixture.pool)
  }

  /// Makes what refers to a blob.
  private static func make(_ tested: Case, _ fixture: IntegrityFixture) async throws {
    let text = tested.text
    switch tested.use {
    case .source: try await post(fixture, source: text)
    case .output: try await post(fixture, output: text)
    case .outputAndSource, .sourceAndOutput, .outputOfTwo, .sourceOfTwo:
      let isFirstSource = [.sourceAndOutput, .sourceOfTwo].contains(tested.use)
      let isSecondSource = [.outputAndSource, .sourceOfTwo].contains(tested.use)
      for isSource in [isFirstSource, isSecondSource] {
        _ = try await isSource ? post(fixture, source: text) : post(fixture, output: text)
      }
    case .outputAndSourceOfTwo:
      for _ in 0..<2 { try await post(fixture, source: text, output: text) }
    case .quarantined, .outputAndQuarantined:
      if tested.use == .outputAndQuarantined { try await post(fixture, output: text) }
      let rejected = try await post(fixture, source: text)
      try await fixture.sql(
        """
        INSERT INTO media_crash (inputs, crashes, last_error, quarantined_at) VALUES ('\\x\(tested.hash)', 2, '-', now());
        INSERT INTO quarantined_input (inputs, role, blob) VALUES ('\\x\(tested.hash)', 'source.photo', '\\x\(tested.hash)')
        """)
      try await delete(rejected, fixture)
    case .formerSourceAndOutput:
      let former = try await post(fixture, source: text)
      try await post(fixture, output: text)
      try await delete(former, fixture)
    case .sourceAndFormerOutput:
      let former = try await post(fixture, output: text)
      try await post(fixture, source: text)
      try await delete(former, fixture)
    }
  }

  private static func damage(_ tested: Case, _ fixture: IntegrityFixture) async throws {
    let path = fixture.path(tested.text)
    switch tested.damage {
    case .none, .rowChanged: break
    case .fileMissing, .fileMissingAndRowChanged: #expect(unlink(path) == 0)
    case .fileChanged: try fixture.corrupt(tested.text)
    case .fileCut: #expect(truncate(path, 2) == 0)
    }
    if [.rowChanged, .fileMissingAndRowChanged].contains(tested.damage) {
      try await fixture.sql(
        "UPDATE blob SET inline_content = 'x' WHERE hash = '\\x\(tested.hash)' AND inline_content IS NOT NULL")
    }
  }

  /// Runs a test with a store that has all cases; passes the number of files that other blobs have.
  private static func with(_ body: (IntegrityFixture, _ others: Int) async throws -> Void) async throws {
    try await IntegrityFixture.with { fixture in
      for tested in Case.all { try await make(tested, fixture) }
      #expect(try await fixture.codes().isEmpty)
      let others = try count(fixture.blobs) - Case.all.count(where: \.use.isSource) - formerFiles
      try await fixture.sql("INSERT INTO blob_store (id) VALUES ('\(fixture.blobs.id)')")
      for tested in Case.all { try await damage(tested, fixture) }
      try await body(fixture, others)
    }
  }

  private static func count(_ blobs: FolderBlobStore) throws -> Int {
    try (0..<256).reduce(0) { try $0 + blobs.listing(ofShard: $1).blobs.count }
  }

  /// The files that stay of sources that are none any more.
  private static var formerFiles: Int { Case.all.count { $0.use == .formerSourceAndOutput } }

  /// Requires that a store has the undamaged files of all blobs that are files and had their bytes, no others, and that a verification finds
  /// the rest alone after a repair.
  private static func check(
    _ blobs: FolderBlobStore, _ fixture: IntegrityFixture, others: Int, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let kept = Case.all.filter { $0.use.isSource && !$0.isLost }
    #expect(try count(blobs) == others + kept.count, sourceLocation: location)
    for tested in kept {
      let damage = try blobs.damage(of: tested.hash, bytes: Int64(tested.text.utf8.count))
      #expect(damage == nil, "\(tested.text)", sourceLocation: location)
    }
    let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
    let verifier = Verifier(pool: fixture.pool, store: store, blobs: blobs, parallel: 4, publicationTime: .zero)
    let lost = Set(Case.all.filter(\.isLost).map { FindingObject.blob($0.hash) })
    let found = try await verifier.run().findings.filter { $0.severity != .fault }
    #expect(Set(found.map(\.object)) == lost, sourceLocation: location)
  }

  @Test("a move takes every file, and writes from its row what a file has lost")
  func move() async throws {
    try await Self.with { fixture, others in
      let target = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      let report = try await BlobMove(
        pool: fixture.pool, from: fixture.blobs, to: target, id: target.id, parallel: 4, leavesDamaged: true
      ) { _ in }.run()
      #expect(report.isFinished)
      #expect(Set(report.damaged) == Set(Case.all.filter { $0.use.isSource && $0.isLost }.map(\.hash)))
      try await Self.check(target, fixture, others: others)
    }
  }

  @Test(
    "a backup and a restored store have every file, also files that only rows have, and also from a backup without these"
  )
  func backup() async throws {
    try await Self.with { fixture, others in
      let rows = try await fixture.dumpedRows()
      let backup = try FolderBlobStore(folder: "\(fixture.folder.path)/backup")
      func copy(from source: FolderBlobStore, to target: FolderBlobStore) async throws -> BlobCopy.Report {
        let copy = BlobCopy(from: source, to: target, parallel: 4, readsPresent: true) { _ in }
        var report = try await copy.run(rows)
        try await copy.complete(&report, from: fixture.pool)
        try await copy.prune(rows, &report)
        return report
      }
      let sources = Case.all.filter(\.use.isSource)
      #expect(rows.blobs == others + sources.count)
      let made = try await copy(from: fixture.blobs, to: backup)
      #expect(Set(made.missing) == Set(sources.filter(\.isLost).map(\.hash)) && made.removed == 0)
      #expect(made.copied == others + sources.count - made.missing.count)
      try await Self.check(backup, fixture, others: others)
      #expect(try await copy(from: fixture.blobs, to: backup).copied == 0)

      let restored = try FolderBlobStore(folder: "\(fixture.folder.path)/restored")
      #expect(try await copy(from: backup, to: restored).missing == made.missing)
      try await Self.check(restored, fixture, others: others)

      // As earlier versions made it.
      for tested in sources where tested.use.isOutput { try backup.remove(tested.hash) }
      let older = try FolderBlobStore(folder: "\(fixture.folder.path)/older")
      _ = try await copy(from: backup, to: older)
      for tested in sources where tested.damage == .none {
        #expect(try older.damage(of: tested.hash, bytes: Int64(tested.text.utf8.count)) == nil, "\(tested.text)")
      }
    }
  }

  @Test("a repair writes a file from its row, and clears a row beside its file")
  func repair() async throws {
    try await Self.with { fixture, others in
      let cleared = Case.all.filter { $0.use.isSource && $0.damage == .rowChanged && $0.use.isOutput }
      let faults = try await fixture.verify().findings.filter { $0.severity == .fault }
      let restored = Case.all.filter {
        $0.use.isSource && $0.use.isOutput && [.fileMissing, .fileChanged, .fileCut].contains($0.damage)
      }
      #expect(Set(faults.map(\.object)) == Set((cleared + restored).map { .blob($0.hash) }))
      // Outputs that are damaged are not made again here.
      _ = try await fixture.repair()
      for tested in Case.all where tested.use.isSource && tested.isLost { try fixture.blobs.remove(tested.hash) }
      try await Self.check(fixture.blobs, fixture, others: others + Self.formerFiles)
      #expect(try await fixture.verify().findings.allSatisfy { $0.severity != .fault })
    }
  }

  @Test("a worker writes the file of a damaged source from its row, and loses no record of what has no bytes")
  func healing() async throws {
    try await Self.with { fixture, _ in
      let recorder = DamageRecorder(blobs: fixture.blobs, log: Logger { _ in }, metrics: Metrics())
      for tested in Case.all { try await recorder.check(tested.hash, fixture.pool) }
      try await DamageRepair(recorder: recorder, store: fixture.store).run(fixture.pool)
      for tested in Case.all where tested.use.isSource && tested.use.isOutput {
        let damage = try fixture.blobs.damage(of: tested.hash, bytes: Int64(tested.text.utf8.count))
        #expect((damage == nil) == !tested.isLost, "\(tested.text)")
      }
      let recorded = try await fixture.pool.run { session in
        try session.execute("SELECT encode(hash, 'hex') FROM blob_damage").map { try $0.get(0, as: String.self) }
      }
      #expect(Set(recorded) == Set(Case.all.filter(\.isLost).map(\.hash.hex)))
    }
  }
}

extension IntegrityFixture {
  /// Reads the rows of the database as `pg_dump` writes them.
  fileprivate func dumpedRows() async throws -> DumpedRows {
    let version = try await pool.run { session in try DatabaseFacts(session).majorVersion }
    let path = "\(folder.path)/rows.sql"
    var program = ChildProcess.Configuration(
      path: try ClientPrograms(.dump, forServer: version).path(.dump), arguments: ["--data-only", "--file=\(path)"])
    program.environment = url.environment
    let ending = try await onThread("test-dump") { [program] in
      let child = try ChildProcess(program)
      child.waitForEnd()
      return child.wait()
    }
    #expect(ending == .exited(0))
    let script = try Descriptor(reading: path).contents()
    var sources = DumpedSources()
    try script.withUnsafeBytes { try sources.read($0) }
    var rows = DumpedRows(sources: sources)
    try script.withUnsafeBytes { try rows.read($0) }
    try rows.checkEnd()
    return rows
  }
}
