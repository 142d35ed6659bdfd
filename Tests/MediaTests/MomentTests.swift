import AV
import BoxTesting
import Media
import MediaFixtures
import Model
import Testing

@Suite("One moment", .tags(.media))
struct MomentTests {
  /// A clip that hears a room, begun some pictures after the other.
  static func clip(_ color: MarkColor, late pictures: Int = 0, seed: UInt64 = 7, channels: Int = 2) -> MarkedClip {
    var tone = MarkedClip.Tone(440, channels: channels)
    tone.room = (began: Double(pictures) / 30, seed: seed)
    var clip = MarkedClip(color, tone: tone)
    clip.firstNumber = pictures
    return clip
  }

  @Test(
    "clips that began apart are brought together by what both heard", arguments: [(0, 6, 2), (6, 0, 2), (0, 9, 6)])
  func aligned(front: Int, back: Int, channels: Int) throws {
    let run = try MomentRun(
      front: Self.clip(.red, late: front, channels: channels).write(), back: Self.clip(.blue, late: back).write())
    #expect(run.isAccepted && run.warnings == [])
    let lead = abs(front - back)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150 - lead)
    let moment = try #require(run.report.verdict.moment)
    #expect(abs(try #require(moment.offsetSeconds) - Double(back - front) / 30) < 0.01)
    #expect(moment.confidence > 0.5)
    // Sound goes with the picture: what the composed video begins with is what the front heard then.
    let composed = try #require(try run.video(.composed).sound())
    let heard = try #require(try run.video(.clipFront).sound())
    #expect(Self.likeness(composed.samples, heard.samples, from: max(0, back - front) * 1600) > 0.9)
  }

  /// The normalised correlation of the beginnings.
  private static func likeness(_ one: [Float], _ other: [Float], from start: Int) -> Double {
    var best = 0.0
    // Copied packets begin up to a packet earlier, hidden by the edit list; decoders disagree about half a sample.
    for shift in stride(from: -64, through: 64, by: 1) {
      let first = start + shift
      guard first >= 0 else { continue }
      let count = min(48_000, one.count, other.count - first)
      guard count > 24_000 else { continue }
      var (product, ones, others) = (0.0, 0.0, 0.0)
      for index in 0..<count {
        product += Double(one[index]) * Double(other[first + index])
        ones += Double(one[index]) * Double(one[index])
        others += Double(other[first + index]) * Double(other[first + index])
      }
      best = max(best, product / (ones * others).squareRoot())
    }
    return best
  }

  @Test("tones fit anywhere and prove nothing")
  func tones() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue, tone: .init(440)).write())
    #expect(run.report.verdict.moment?.offsetSeconds == nil)
    #expect(run.warnings == [])
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
  }

  @Test("two rooms are a doubt: a warning, or a refusal where the definition says so")
  func rooms() throws {
    let (front, back) = (try Self.clip(.red, seed: 1).write(), try Self.clip(.blue, seed: 99).write())
    let warned = try MomentRun(front: front, back: back)
    #expect(warned.isAccepted)
    #expect(warned.warnings == [.notOneMoment])
    var strict = try MomentRun.definition()
    strict.moment = Definition.Moment(doubt: .refuse)
    #expect(try MomentRun(front: front, back: back, definition: strict).codes == [.notOneMoment])
  }

  @Test("times of recording that lie far apart are a doubt, unless both heard one sound", arguments: [true, false])
  func recordingTimes(oneSound: Bool) throws {
    let clips = oneSound ? (Self.clip(.red), Self.clip(.blue)) : (MarkedClip(.red), MarkedClip(.blue))
    let files = try [(clips.0, UInt32(3_800_000_000)), (clips.1, 3_800_000_500)].map { clip, time in
      var bytes = try TemporaryFile.bytes(of: clip.write())
      let header = try #require(bytes.firstRange(of: Array("mvhd".utf8)))
      bytes.replaceSubrange(header.upperBound + 4..<header.upperBound + 8, with: bigEndian(time))
      return try TemporaryFile.make(bytes)
    }
    let run = try MomentRun(front: files[0], back: files[1])
    #expect(run.report.verdict.moment?.recordedDifference == 500)
    #expect(run.warnings == (oneSound ? [] : [.notOneMoment]))
  }

  @Test("aligning never costs the shortest length: such clips are composed as they came")
  func tooShort() throws {
    var front = Self.clip(.red)
    front.seconds = 4.6
    front.times = front.times.filter { $0 < 4.6 - 0.01 }
    let run = try MomentRun(front: front.write(), back: Self.clip(.blue, late: 9).write())
    #expect(run.isAccepted)
    #expect(run.choices(.alignment).contains("not applied"))
    #expect(abs(try run.video(.composed).duration - 4.6) < 0.05)
  }
}
