import Definitions
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Same verdict everywhere", .tags(.process))
struct VerdictTests {
  /// The codes of a rejection; empty if the file is accepted, nil for any other outcome.
  typealias Codes = Set<String>?

  private struct Output: Decodable {
    let verdict: String
    let reasons: [Reason]
    let duration: Double?

    var codes: Codes {
      switch verdict {
      case "accepted": []
      case "rejected": Set(reasons.map(\.code.rawValue))
      default: nil
      }
    }
  }

  /// The built-in definition with a small canvas, which accepts clips of any duration.
  private static func anyLength(in folder: TemporaryFolder) throws -> String {
    var definition = try Definitions.take5Post()
    definition.limits.seconds = SecondsRange(shortest: 0.1, longest: 600)
    definition.limits.differenceSeconds = 600
    definition.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 0.1, longest: 5.034)
    definition.canvas.width = 270
    definition.canvas.height = 480
    return try Clips.write(try JSON.encode(definition), "any-length.json", in: folder)
  }

  /// Runs a command with `--json` and decodes its output.
  private static func output(_ arguments: [String], of name: String) async throws -> Output? {
    let run = try await Take5Command.run(arguments + ["--json"])
    let output = try? JSON.decode(Output.self, from: Array(run.output.utf8))
    #expect(output != nil, "\(name): \(arguments[0]) ended with \(run.status ?? -1): \(run.errors)")
    #expect(run.status == (output?.codes == [] ? 0 : 65), "\(name): \(arguments[0]) ended with \(run.status ?? -1)")
    return output
  }

  /// Submits media and waits for the verdict.
  private static func submitted(_ parts: [(name: String, bytes: [UInt8])], _ service: Service) async throws -> Codes {
    let response = try await service.api().submit("/v1/posts", parts)
    let codes = Set(response["reasons"]?.items.compactMap { $0["code"]?.text } ?? [])
    switch (response.status, response["status"]?.text) {
    case (200, "ready"): return []
    case (200, "rejected"), (422, _): return codes
    default: return nil
    }
  }

  /// Expects that all commands and the API have the verdict of `inspect` on a clip.
  private static func judge(
    _ path: String, _ name: String, with back: String, definition: String, _ service: Service
  ) async throws -> Output? {
    let rule = ["--definition", definition]
    let inspected = try await output(["inspect", path] + rule, of: name)
    let expected = inspected?.codes
    let validated = try await output(["validate", path, back] + rule, of: name)
    #expect(validated?.codes == expected, "\(name): validate, \(validated?.reasons ?? [])")
    let outputs = ["-o", "\(service.folder.path)/out.mp4", "--outputs", "\(service.folder.path)/outputs", "--force"]
    let composed = try await Take5Command.run(["compose", path, back] + outputs + rule)
    #expect(composed.status == (expected == [] ? 0 : 65), "\(name): compose, \(composed.errors)")
    for code in expected ?? [] { #expect(composed.errors.contains(code), "\(name): compose, \(composed.errors)") }
    if expected == [] {
      let still = try await Take5Command.run(["still", path, "-o", "\(service.folder.path)/out.jpg", "--force"] + rule)
      #expect(still.status == 0, "\(name): still, \(still.errors)")
    }
    let contents = try (Descriptor(reading: path).contents(), Descriptor(reading: back).contents())
    let posted = try await submitted(
      [("front", contents.0), ("back", contents.1), ("post", Array(#"{"author":"ada"}"#.utf8))], service)
    #expect(posted == expected, "\(name): a submission")
    return inspected
  }

  /// The numbers of the frames that must be shown at some times.
  private static let shown: [String: [(seconds: Double, frame: Int)]] = [
    "an edit that starts at a sync frame": [(1, 60)], "an edit that starts between sync frames": [(0, 15), (1, 45)],
    "an edit that is longer than the media": [(4.9, 137)], "three edits": [(1, 30), (3, 120), (4.5, 225)],
    "a second twice": [(1.5, 45), (2.5, 45), (3.5, 75)], "edits out of order": [(1, 120), (3, 30)],
    "a dwell": [(1, 30), (2.5, 60), (4, 90)], "a gap": [(1, 30), (4, 90)],
    // Rates other than 0 are ignored, as in FFmpeg and Chromium.
    "twice the speed": [(2, 60), (4, 120)], "edits of no length": [(1, 30)],
  ]

  @Test("clips with edit lists are accepted, with the right duration and frames")
  func edits() async throws {
    let folder = try TemporaryFolder()
    let definition = try Self.anyLength(in: folder)
    let service = try await Service(workers: 2, ["--definition", definition])
    let back = try Clips.write(Clips.back, "back.mp4", in: folder)
    for clip in EditedClip.all {
      let path = try Clips.write(clip.bytes(), "front.mp4", in: folder)
      let inspected = try await Self.judge(
        path, clip.description, with: back, definition: definition, service)
      #expect(inspected?.codes == [], "\(clip): \(inspected?.reasons ?? [])")
      // Two frames may be missing because their reference frames are cut off.
      #expect(abs((inspected?.duration ?? 0) - clip.seconds) < 0.1, "\(clip): \(inspected?.duration ?? 0) s")
      for (seconds, frame) in Self.shown[clip.description] ?? [] {
        let output = "\(folder.path)/still.jpg"
        let still = try await Take5Command.run(["still", path, "--at", "\(seconds)", "-o", output, "--force"])
        #expect(still.status == 0, "\(clip): \(still.errors)")
        let counter = try StillImage(Descriptor(reading: output).contents()).counter
        #expect(abs((counter ?? -9) - frame) <= 1, "\(clip): frame \(counter ?? -9) at \(seconds) s, not \(frame)")
      }
    }
    try await service.stop()
  }

  @Test("clips of the field media", .enabled(if: InspectTests.folder != nil, "TAKE5_FIELD_MEDIA is not set"))
  func clips() async throws {
    let media = try #require(InspectTests.folder)
    let folder = try TemporaryFolder()
    let definition = try Self.anyLength(in: folder)
    let service = try await Service(workers: 2, ["--definition", definition])
    let back = try Clips.write(Clips.back, "back.mp4", in: folder)
    for name in try Self.names(in: media).filter(Self.isClip) {
      let inspected = try await Self.judge("\(media)/\(name)", name, with: back, definition: definition, service)
      Self.expectKnown(inspected?.codes, of: name)
    }
    try await service.stop()
  }

  @Test("photos of the field media", .enabled(if: InspectTests.folder != nil, "TAKE5_FIELD_MEDIA is not set"))
  func photos() async throws {
    let media = try #require(InspectTests.folder)
    let service = try await Service()
    for name in try Self.names(in: media).filter({ !Self.isClip($0) }) {
      let path = "\(media)/\(name)"
      let expected = try await Self.output(["inspect", path], of: name)?.codes
      Self.expectKnown(expected, of: name)
      let made = try await Self.output(
        ["photo", path, "--force", "-o", "\(service.folder.path)/photos"], of: name)
      #expect(made?.codes == expected, "\(name): photo, \(made?.reasons ?? [])")
      let parts = [
        ("photo", try Descriptor(reading: path).contents()), ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
      ]
      #expect(try await Self.submitted(parts, service) == expected, "\(name): a submission")
    }
    try await service.stop()
  }

  /// Expects the verdict of the table on a file.
  private static func expectKnown(_ codes: Codes, of name: String) {
    switch InspectTests.field[name] {
    case .clip, .photo: #expect(codes == [], "\(name)")
    case .rejected(let known):
      #expect(codes?.isEmpty == false && Set(known.map(\.rawValue)).isSuperset(of: codes ?? []), "\(name)")
    case nil: Issue.record("\(name) is not in the table")
    }
  }

  private static func isClip(_ name: String) -> Bool {
    [".mp4", ".mov", ".3gp", ".webm"].contains { name.hasSuffix($0) }
  }

  private static func names(in media: String) throws -> [String] {
    try InspectTests.parts.flatMap { part in
      try Folders.files(below: "\(media)/\(part)").map { String($0.dropFirst(media.utf8.count + 1)) }
    }.sorted()
  }
}
