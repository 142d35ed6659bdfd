import Definitions
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Loudness, as ffmpeg's filter ebur128 measures it", .tags(.players), .serialized)
struct LoudnessTests {
  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  /// The integrated loudness in LUFS, and the true peak in dBTP.
  private static func measured(_ path: String) async throws -> (loudness: Double, truePeak: Double) {
    let run = try await Program.run(
      "ffmpeg", ["-nostdin", "-hide_banner", "-i", path, "-map", "0:a", "-af", "ebur128=peak=true", "-f", "null", "-"])
    #expect(run.status == 0, "\(run.errors)")
    let summary = run.errors[(run.errors.lastIndex { $0.contains("Summary:") } ?? 0)...]
    func value(_ name: String) throws -> Double {
      let line = try #require(summary.first { $0.split(separator: " ").first == "\(name):" }, "\(run.errors)")
      return try #require(line.split(separator: " ").dropFirst().first.flatMap { Double(String($0)) })
    }
    return (try value("I"), try value("Peak"))
  }

  /// A clip with bursts of noise, which have peaks far above their loudness, or with a sine.
  private static func clip(_ color: MarkColor, level: Double, isNoise: Bool) throws -> OpenFile {
    var clip = MarkedClip(color, codec: color == .red ? .hevc : .h264, tone: .init(440))
    clip.tone?.level = level
    if isNoise { clip.tone?.room = (start: 0, seed: 5) }
    return try clip.write()
  }

  @Test(
    "a composition and an encoded clip have the loudness of the definition within 0.5 LU, and each video the one that is stated",
    arguments: [0.02, 0.2, 0.9], [false, true])
  func brought(level: Double, isNoise: Bool) async throws {
    var definition = try Definitions.take5Post()
    (definition.canvas.width, definition.canvas.height) = (270, 480)
    definition.outputs[.composed]?.composed?.loudness = -16
    definition.outputs[.clipFront]?.clip?.loudness = -16
    let roles: [Role] = [.composed, .clipFront, .clipBack]
    let inputs: [InputName: OpenFile] = [
      .front: try Self.clip(.red, level: level, isNoise: isNoise),
      .back: try Self.clip(.blue, level: level, isNoise: isNoise),
    ]
    let prober = Prober(limits: definition.limits)
    var facts: [InputName: ClipFacts] = [:]
    for (name, file) in inputs { facts[name] = try prober.probe(file, as: name).get() }
    let plan = Planner(definition).plan(
      front: try #require(facts[.front]), back: try #require(facts[.back]), foreground: .front, roles: Set(roles))
    let files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    let report = try PlanRunner(plan, inputs: inputs, outputs: files).run()
    #expect(report.verdict.reasons == [])
    for role in roles {
      let path = "\(OutputFolder.path)/loudness \(level) \(isNoise) \(role.rawValue).mp4"
      try Descriptor(writing: path, replacing: true).write(TemporaryFile.bytes(of: try #require(files[role])))
      let found = try await Self.measured(path)
      let stated = try #require(report.outputs.first { $0.role == role }?.loudnessLufs)
      #expect(abs(found.loudness - stated) < 0.5, "\(role.rawValue): \(found), stated \(stated)")
      guard role != .clipBack else { continue }
      // Of noise the peaks may allow less; an encoder overshoots them.
      #expect(isNoise ? found.loudness < -15.5 : abs(found.loudness + 16) < 0.5, "\(role.rawValue): \(found)")
      #expect(found.truePeak < (isNoise ? 2 : -0.5), "\(role.rawValue): \(found)")
    }
  }
}
