import Definitions
import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import SeededRandom
import Testing

/// Children that write the outputs of an honest child and repeat its messages with a lie (`Tests/Support/hostile-media`).
@Suite("Children that lie", .serialized)
struct LyingChildTests {
  /// A run of `take5-media`: its plan, its report, and its outputs in the order of their descriptors.
  private struct HonestRun {
    let plan: Plan
    let report: RunReport
    let outputs: [[UInt8]]

    static func make() async throws -> HonestRun {
      let slot = try MediaProcess(name: "honest", configuration: .init())
      let definition = try Definitions.markerVideo()
      let clip = try MarkedClip(.red, seconds: 2, tone: .init(440)).write()
      let made = Locked<(plan: Plan, files: [Role: OpenFile])?>(nil)
      let report = try await slot.process(
        [.clip: clip], limits: definition.limits, deadline: .seconds(60), cancellation: CancellationFlag()
      ) { facts in
        guard let clip = facts[.clip] else { return nil }
        let plan = Planner(definition).plan(clip: clip)
        let files = try LyingChildTests.files(of: plan)
        made.withLock { $0 = (plan, files) }
        return (plan, files)
      }
      let taken = made.withLock { $0 }
      let (plan, files) = try #require(taken)
      await slot.stop()
      let outputs = try files.sorted { $0.key.rawValue < $1.key.rawValue }.map { try $0.value.descriptor.contents() }
      return HonestRun(plan: plan, report: report, outputs: outputs)
    }
  }

  private static func files(of plan: Plan) throws -> [Role: OpenFile] {
    try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, OpenFile(try Descriptor(unnamedIn: "/tmp"))) })
  }

  /// Lets a child replay the facts of a run and then messages, and returns the report and the progress that the parent
  /// accepts.
  private func replay(
    _ messages: [[UInt8]], _ outputs: [[UInt8]], of run: HonestRun, in slot: MediaProcess,
    facts change: (inout [MediaReply]) -> Void = { _ in }, planning: @Sendable () -> Void = {}
  ) async throws -> (report: RunReport, progress: [Double]) {
    // In the script, a byte has at most three digits and a comma. The facts say how long the file is.
    let count = 4 * (messages + outputs).joined().count + (1 << 16)
    var probed = ProbeReport()
    probed.facts = run.plan.inputs.mapValues(\.facts)
    probed.facts[.clip]?.bytes = Int64(count)
    var facts = [MediaReply.probed(probed)]
    change(&facts)
    let script = try JSON.encode(["facts": facts.map(Self.message), "messages": messages, "outputs": outputs])
    let content = Array("replay\n".utf8) + script
    let clip = try TemporaryFile.make(content + [UInt8](repeating: 0x20, count: count - content.count))
    let progress = Locked<[Double]>([])
    let report = try await slot.process(
      [.clip: clip], limits: run.plan.limits, deadline: .seconds(60), cancellation: CancellationFlag()
    ) { [plan = run.plan] _ in
      planning()
      return (plan, try Self.files(of: plan))
    } progress: { fraction in
      progress.withLock { $0.append(fraction) }
    }
    return (report, progress.withLock { $0 })
  }

  private static func slot() throws -> MediaProcess {
    try MediaProcess(
      name: "hostile", configuration: .init(executable: try ThisProcess.folder() + "/hostile-media"))
  }

  private static func message(_ reply: MediaReply) throws -> [UInt8] { try Envelope<MediaReply>.encode(reply) }

  /// The field that the failure names, and the lie about the first output of a type.
  static let lies: [(field: String, type: String, change: @Sendable (inout RunReport, Int) -> Void)] = [
    ("outputs are ", "video/mp4", { $0.outputs[$1].role = .composed }),
    ("outputs are ", "video/mp4", { $0.outputs.append($0.outputs[$1]) }),
    ("outputs are ", "video/mp4", { $0.outputs.remove(at: $1) }),
    ("type is 'text/html'", "video/mp4", { $0.outputs[$1].type = "text/html" }),
    ("type is 'image/svg+xml'", "image/jpeg", { $0.outputs[$1].type = "image/svg+xml" }),
    ("bytes is ", "video/mp4", { $0.outputs[$1].bytes = 1 << 40 }),
    ("bytes is ", "image/jpeg", { $0.outputs[$1].bytes = 0 }),
    ("size is ", "video/mp4", { $0.outputs[$1].width = .max }),
    ("size is ", "image/jpeg", { $0.outputs[$1].height = -1 }),
    ("duration is ", "video/mp4", { $0.outputs[$1].duration = 1e30 }),
    ("duration is ", "video/mp4", { $0.outputs[$1].duration = 3 }),
    ("duration is unexpected or missing", "image/jpeg", { $0.outputs[$1].duration = 5 }),
    ("duration is ", "image/webp", { $0.outputs[$1].duration = 1e-30 }),
    ("thumbhash is not ", "image/jpeg", { $0.outputs[$1].thumbhash = "<script>" }),
    ("verdict is rejected with 0 reasons", "video/mp4", { report, _ in report.verdict.verdict = .rejected }),
  ]

  @Test("a false role, type, size, dimension or duration of an output fails the run, and the failure names it")
  func outputs() async throws {
    let (honest, slot) = (try await HonestRun.make(), try Self.slot())
    let repeated = try await replay(
      [try Self.message(.result(honest.report))], honest.outputs, of: honest, in: slot)
    #expect(repeated.report == honest.report)
    for lie in Self.lies {
      var report = honest.report
      let index = try #require(report.outputs.firstIndex { $0.type == lie.type })
      lie.change(&report, index)
      let failure = try await #require(throws: MediaFailure.self, "\(lie.field)") {
        _ = try await replay([try Self.message(.result(report))], honest.outputs, of: honest, in: slot)
      }
      #expect(failure.kind == .protocolViolation)
      #expect(failure.detail.contains("refused: ") && failure.detail.contains(lie.field), "\(failure)")
    }
    await slot.stop()
  }

  @Test("an output whose headers do not confirm the report fails the run")
  func headers() async throws {
    let (honest, slot) = (try await HonestRun.make(), try Self.slot())
    let roles = honest.plan.outputs.sorted { $0.rawValue < $1.rawValue }
    for (index, role) in roles.enumerated() {
      var outputs = honest.outputs
      // As long as the output.
      outputs[index] = Array("<html>".utf8) + [UInt8](repeating: 0x20, count: outputs[index].count - 6)
      let failure = try await #require(throws: MediaFailure.self, "\(role.rawValue)") {
        _ = try await replay([try Self.message(.result(honest.report))], outputs, of: honest, in: slot)
      }
      #expect(failure.kind == .protocolViolation)
      #expect(failure.detail.contains("outputs.\(role.rawValue).file is not "), "\(failure)")
    }
    await slot.stop()
  }

  /// How many replies are changed; TAKE5_LIES has it.
  private static let arbitraryLies = getenv("TAKE5_LIES").flatMap { Int(String(cString: $0)) } ?? 60

  @Test("a reply with an arbitrary change is refused, or says of each output what it is")
  func arbitrary() async throws {
    let honest = try await HonestRun.make()
    let message = try Self.message(.result(honest.report))
    try await Array(0..<2).forEach(concurrently: 2) { half in
      let slot = try Self.slot()
      for number in 0..<Self.arbitraryLies / 2 {
        var random = SplitMix64(seed: UInt64(2 * number + half))
        let lie = Self.changed(message, &random)
        do {
          let report = try await replay([lie], honest.outputs, of: honest, in: slot).report
          #expect(
            report.outputs.map(Self.checkable) == honest.report.outputs.map(Self.checkable),
            "\(number), \(half): \(String(decoding: lie, as: UTF8.self))")
        } catch let failure as MediaFailure {
          #expect(failure.kind == .protocolViolation, "\(number), \(half): \(failure)")
        }
      }
      await slot.stop()
    } receive: { _, _ in
    }
  }

  /// What the parent can see of an output, as a text.
  private static func checkable(_ output: OutputFacts) -> String {
    "\(output.role) \(output.type) \(output.bytes) \(output.width)x\(output.height)"
  }

  /// Changes a digit, another byte, or a part of a message, or several of them.
  private static func changed(_ message: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var message = message
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      let digits = message.indices.filter { 0x30...0x39 ~= message[$0] }
      let place = Int.random(in: 0..<message.count, using: &random)
      let part = place..<min(message.count, place + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1, 2:
        message[digits.randomElement(using: &random) ?? place] = UInt8.random(in: 0x30...0x39, using: &random)
      case 3: message[place] = UInt8.random(in: 0x20...0x7E, using: &random)
      case 4: message.insert(contentsOf: message[part], at: place)
      default: message.removeSubrange(part)
      }
      if message.isEmpty { message = [0x7B] }
    }
    return message
  }

  @Test("progress that is not a rising fraction is ignored, and a flood or a NaN fails the run")
  func progress() async throws {
    let (honest, slot) = (try await HonestRun.make(), try Self.slot())
    let result = try Self.message(.result(honest.report))
    let fractions = try [1e30, -1e30, 0.5, -1, 0.25, 1.5].map { try Self.message(.progress($0)) }
    let accepted = try await replay(fractions + [result], honest.outputs, of: honest, in: slot)
    #expect(accepted.progress == [0.5])
    let nan = String(decoding: try Self.message(.progress(0.5)), as: UTF8.self).split(separator: "0.5")
    let flood = try (0..<1000).map { try Self.message(.progress(Double($0) / 1000)) }
    for (messages, reason) in [
      ([Array(nan.joined(separator: "NaN").utf8)], "could not be decoded"), (flood, "refused: progress has "),
    ] {
      let failure = try await #require(throws: MediaFailure.self, "\(reason)") {
        _ = try await replay(messages + [result], honest.outputs, of: honest, in: slot)
      }
      #expect(failure.kind == .protocolViolation && failure.detail.contains(reason), "\(failure)")
    }
    await slot.stop()
  }

  @Test("false facts and progress end the job before it is planned, and second facts are no report")
  func facts() async throws {
    let (honest, slot) = (try await HonestRun.make(), try Self.slot())
    let lies: [(reason: String, isPlanned: Bool, change: (inout [MediaReply]) -> Void)] = [
      ("refused: facts.clip.bytes is ", false, { $0 = $0.map { Self.changed($0) { $0.facts[.clip]?.bytes = 1 } } }),
      ("refused: facts and reasons ", false, { $0 = $0.map { Self.changed($0) { $0.facts = [:] } } }),
      ("progress of a probe", false, { $0 = [.progress(0.5)] }), ("unexpected reply", true, { $0 += $0 }),
    ]
    for lie in lies {
      let isPlanned = CancellationFlag()
      let failure = try await #require(throws: MediaFailure.self, "\(lie.reason)") {
        _ = try await replay(
          [], honest.outputs, of: honest, in: slot, facts: lie.change, planning: { isPlanned.cancel() })
      }
      #expect(failure.kind == .protocolViolation && failure.detail.contains(lie.reason), "\(failure)")
      #expect(isPlanned.isCancelled == lie.isPlanned)
    }
    await slot.stop()
  }

  private static func changed(_ reply: MediaReply, _ change: (inout ProbeReport) -> Void) -> MediaReply {
    guard case .probed(var report) = reply else { return reply }
    change(&report)
    return .probed(report)
  }
}
