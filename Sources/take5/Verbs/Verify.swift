import Glibc
import Integrity
import MediaProcess
import Model

extension Subcommand {
  static let verify = Subcommand(
    "verify", abstract: "Look whether everything stored is there and right; status 1 if it is not.",
    options: [
      Option("--deep", help: "decode every media file too, and compare it with what is told of it"),
      Option("--repair", help: "put right what can be: remove litter, make damaged outputs again from their sources"),
      Option(
        "--adopt",
        help: "take the folder of the blobs as it is, though it is empty, or another than the database knows"),
      Option(
        "--slots", "N", help: "with --repair: so many are made again at a time; one for each core unless told"),
      .data, .database, .pooling, .mediaMemory, .json,
    ],
    example: "take5 verify --deep"
  ) { arguments in
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let slots = try arguments.number("--slots", in: 1...256) ?? cores
    var media = try MediaProcess.Configuration(arguments)
    let inspecting = media
    // Whoever serves on this machine comes first.
    media.isBackground = true
    let answer = try await StoreIntegrity.use(
      arguments, connections: slots + 1, isAdopting: arguments.has("--adopt")
    ) { [media] integrity in
      let inspector =
        arguments.has("--deep") ? try MediaInspector(inspecting) : nil
      let remaking = arguments.has("--repair") ? Remaking(integrity: integrity, media: media, slots: slots) : nil
      do {
        let answer = try await verify(integrity, inspector, remaking)
        await inspector?.stop()
        return answer
      } catch {
        await inspector?.stop()
        throw error
      }
    }
    try Console.print(arguments.has("--json") ? try JSON.text(answer) : answer.text)
    return answer.whole ? .done : .notWhole
  }

  private static func verify(
    _ integrity: StoreIntegrity, _ inspector: MediaInspector?, _ remaking: Remaking?
  ) async throws -> VerifyAnswer {
    let progress = StageProgress()
    let verifier = Verifier(
      pool: integrity.pool, store: integrity.store, blobs: integrity.blobs, inspector: inspector
    ) { stage, fraction in
      progress.show(stage, fraction)
    }
    defer { progress.clear() }
    let report = try await verifier.run()
    guard let remaking, !report.isWhole else { return VerifyAnswer(report) }
    progress.clear()
    let repairer = Repairer(pool: integrity.pool, store: integrity.store, blobs: integrity.blobs) {
      try await remaking.remake($0)
    }
    let failures = try await repairer.repair(report.findings)
    return VerifyAnswer(try await verifier.run(), before: report.findings, failures: failures)
  }
}
