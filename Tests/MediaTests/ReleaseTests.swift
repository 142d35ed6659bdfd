import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("A run that is over", .tags(.media))
struct ReleaseTests {
  private static func run(_ clip: MarkedClip) throws -> Unowned {
    let front = try clip.write()
    let run = try MomentRun(front: front, back: MarkedClip(.blue, seconds: clip.seconds).write())
    return Unowned(file: front, isAccepted: run.isAccepted)
  }

  private struct Unowned {
    weak var file: OpenFile?
    let isAccepted: Bool
  }

  @Test("holds on to nothing, since the process goes on", arguments: [4.6, 4.0])
  func release(seconds: Double) throws {
    // Sound that is encoded, pictures that are: everything that a run can hold.
    let run = try Self.run(MarkedClip(.red, seconds: seconds, codec: .hevc, tone: .init(440, channels: 6)))
    #expect(run.isAccepted == (seconds > 4.5))
    #expect(run.file == nil)
  }
}
