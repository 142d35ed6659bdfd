import FoundationEssentials
import Model
import PostgresTesting
import Take5Testing
import Testing

/// What the demo shows.
@Suite("Samples", .tags(.process))
struct SampleTests {
  /// The part of what `take5 compose --json` prints that is read here.
  private struct Answer: Decodable {
    let warnings: [Warning]
    let inputs: [InputName: InputReport]
    let moment: MomentReport?
    let decisions: [Decision]
  }

  @Test("the decisions on them show how clips are aligned, turned, and freed from place and device")
  func decisions() async throws {
    let folder = try TemporaryFolder()
    let clips = ["front", "back"].map { "\(Document.root)/samples/\($0).mp4" }
    let run = try await Take5Command.run(["compose"] + clips + ["--outputs", folder.path, "--json"])
    #expect(run.status == 0, "\(run.errors)")
    let answer = try JSON.decode(Answer.self, from: Array(run.output.utf8))
    #expect(answer.warnings.isEmpty)

    let moment = try #require(answer.moment)
    // The cameras began so far apart; the detail of sounds is half a millisecond fine.
    #expect(abs((moment.offsetSeconds ?? 0) - 0.18) < 0.002)
    #expect(moment.confidence > 0.8)
    func said(_ subject: Decision.Subject) -> [Decision] { answer.decisions.filter { $0.subject == subject } }
    #expect(said(.alignment).map(\.choice) == ["the front's sound is 180 ms behind the back's"])

    let turns = said(.transform)
    #expect(Set(turns.compactMap(\.input)) == [.front, .back])
    #expect(answer.inputs[.front]?.facts.video.transform == Transform(rotation: .quarter, mirrored: false))
    #expect(answer.inputs[.back]?.facts.video.transform == Transform(rotation: .threeQuarters, mirrored: false))

    #expect(said(.privacy).count == 1)
    #expect(said(.privacy).first?.choice == "nothing of place, device or person is left")
    #expect(said(.privacy).first?.reason.hasSuffix("the inputs told of device, place") == true)
  }
}
