import Glibc
import Integrity
import MediaProcess
import Model
import Platform

extension Subcommand {
  static let verify = Subcommand(
    "verify", abstract: "Check that the files and rows of the store are present and valid; status 1 if not.",
    options: [
      Option("--deep", help: "also read every table, and decode every media file and compare it with its row"),
      Option("--repair", help: "remove orphans, and make damaged outputs again from their sources"),
      Option(
        "--adopt",
        help: "accept the folder of blobs even if it is empty or has another id than the database expects"),
      Option(
        "--parallel", "N", .integer(1...64), default: "4",
        help: "blobs that are read at the same time; more is faster with an object store"),
      Option(
        "--slots", "N", .integer(1...256),
        help: "with --repair: outputs that are made at the same time; default: one per core"),
      .releasedPause,
    ] + Option.store + [.mediaMemory, .sandbox, .json],
    example: "take5 verify --deep"
  ) { arguments in
    let cores = ThisProcess.processors
    let slots = try arguments.number("--slots") ?? cores
    let parallel = try arguments.number("--parallel") ?? 4
    let media = try MediaProcess.Configuration(arguments)
    let releasedPause = try ServiceConfiguration([.releasedPause], arguments).releasedPause
    if arguments.has("--deep") || arguments.has("--repair") { try await Sandbox.check(media) }
    let result = try await StoreIntegrity.use(
      arguments, connections: max(slots + RestartingWorker.ownConnections, parallel) + 1,
      isAdopting: arguments.has("--adopt"), releasedPause: releasedPause
    ) { integrity in
      let inspector = arguments.has("--deep") ? try MediaInspector(media) : nil
      let remaker = arguments.has("--repair") ? MediaRemaker(integrity: integrity, media: media, slots: slots) : nil
      do {
        let result = try await verify(integrity, inspector, parallel, remaker)
        await inspector?.stop()
        return result
      } catch {
        await inspector?.stop()
        throw error
      }
    }
    try Console.print(arguments.has("--json") ? try JSON.text(result) : result.text)
    return result.whole ? .success : .inconsistent
  }

  private static func verify(
    _ integrity: StoreIntegrity, _ inspector: MediaInspector?, _ parallel: Int, _ remaker: MediaRemaker?
  ) async throws -> VerifyResult {
    let progress = StageProgress()
    let verifier = Verifier(
      pool: integrity.pool, store: integrity.store, blobs: integrity.blobs, inspector: inspector, parallel: parallel,
      // Repairs that are made now need no worker.
      recordsDamage: remaker == nil
    ) { stage, fraction in
      progress.show(stage, fraction)
    }
    defer { progress.clear() }
    let report = try await verifier.run()
    guard let remaker, !report.isConsistent else { return VerifyResult(report) }
    progress.clear()
    let repairer = Repairer(pool: integrity.pool, store: integrity.store, blobs: integrity.blobs) {
      try await remaker.remake($0)
    }
    let failures = try await repairer.repair(report.findings)
    return VerifyResult(try await verifier.run(), before: report.findings, failures: failures)
  }
}

/// The result that `take5 verify` prints.
private struct VerifyResult: Encodable {
  /// Whether there are no findings.
  let whole: Bool
  let checked: VerifyReport.Checked
  /// The findings that remain after repairs.
  let findings: [Finding]
  /// The findings that repairs have removed.
  let repaired: [Finding]
  /// The failed repairs with their reasons.
  let failures: [RepairFailure]

  /// - Parameters:
  ///   - report: the report of the last run.
  ///   - before: the findings before repairs.
  init(_ report: VerifyReport, before: [Finding] = [], failures: [RepairFailure] = []) {
    whole = report.isConsistent
    checked = report.checked
    findings = report.findings
    let remaining = Set(report.findings.map { Key(code: $0.code, object: $0.object) })
    repaired = before.filter { !remaining.contains(Key(code: $0.code, object: $0.object)) }
    self.failures = failures
  }

  private struct Key: Hashable {
    let code: FindingCode
    let object: FindingObject
  }

  /// The result as text.
  var text: String {
    var lines = repaired.map { "repaired: \($0.line)" }
    for finding in findings {
      lines.append(finding.line)
      lines += finding.subjects.map { "  of \($0)" }
      lines.append("  \(finding.remedy)")
    }
    lines += failures.map { "not repaired: \($0.object.kind) \($0.object.id): \($0.reason)" }
    var counts = "\(CountText.text(checked.blobs, "blob")) with \(checked.bytes) bytes, "
    counts += "\(CountText.text(checked.sets, "asset set")), \(CountText.text(checked.posts, "post")), "
    counts += "\(CountText.text(checked.images, "image")), \(CountText.text(checked.users, "user")) and "
    counts += CountText.text(checked.files, "file")
    if let media = checked.media { counts += ", \(media) media decoded" }
    if let tables = checked.tables { counts += ", \(CountText.text(tables, "table")) read" }
    lines.append("checked \(counts)")
    if checked.checksums == false {
      lines.append(
        "the database has no data checksums: pages that the disk has changed may not have been found ('take5 doctor')")
    }
    lines.append(whole ? "the store is consistent" : Self.summary(of: findings))
    return lines.joined(separator: "\n")
  }

  private static func summary(of findings: [Finding]) -> String {
    let parts = Severity.allCases.reversed().compactMap { severity in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : "\(count) \(severity.rawValue)"
    }
    return "the store is inconsistent: \(parts.joined(separator: ", "))"
  }
}
