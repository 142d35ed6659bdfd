import AV
import Kernels
import MediaFixtures
import Model
import Platform
import Testing

@testable import Media

@Suite("Time", .tags(.media))
struct TimeTests {
  /// Timestamps at 30 per second with gaps: one of ten is missing, and each is up to 5 ms early or late.
  static let uneven: [Double] = (0..<150).filter { $0 % 10 != 3 }.map { index in
    let jitter = [-0.005, 0.004, 0, 0.005, -0.003][index % 5]
    return max(0, Double(index) / 30 + jitter)
  }

  @Test("frames of a variable rate are mapped to the grid by their timestamps")
  func variableFrameRate() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, times: Self.uneven, seconds: 5).write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let inset = try #require(run.plan?.composition?.inset)
    var tick = 0
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      #expect(composed.background == tick)
      // The inset shows the last frame up to this tick.
      let expected = try #require(Self.uneven.lastIndex { ($0 * 30).rounded() <= Double(tick) })
      #expect(composed.inset == expected)
      tick += 1
    }
    #expect(tick == 150)
  }

  @Test(
    "clips of any rate show the nearest frames, composed and encoded alone, and are in step with their sound",
    arguments: [24.0, 25, 29.97, 30, 50, 59.94, 60, 120, 240], [0, 0.0003, 0.001])
  func rates(framesPerSecond: Double, jitter: Double) throws {
    var tone = MarkedClip.Tone(440)
    tone.room = (start: 0, seed: 7)
    let times = (0..<Int(5 * framesPerSecond)).map { index in
      max(0, Double(index) / framesPerSecond + jitter * [-1, 0.8, 0, 1, -0.6][index % 5])
    }
    let front = try MarkedClip(.red, times: times, seconds: 5, tone: tone).write()
    // At 29.97 per second both clips are ever earlier than their ticks.
    let back = MarkedClip(.blue, framesPerSecond: framesPerSecond == 29.97 ? 29.97 : 30)
    let run = try MomentRun(front: Self.notCopied(front), back: back.write())
    #expect(run.isAccepted)
    #expect(run.plan?.clips.map(\.mode) == [.encode, .remux])
    let inset = try #require(run.plan?.composition?.inset)
    for role in [Role.composed, .clipFront] {
      let video = try run.video(role)
      var frames: [(number: Int, start: Double)] = []
      try video.forEachFrame { frame, seconds in
        let number = role == .composed ? ComposedFrame(frame, inset: inset).inset : CounterBlocks.read(frame)
        frames.append((try #require(number), seconds))
      }
      // Alone, each frame is encoded once, but for the last two ticks.
      let once = zip(frames, frames.dropFirst().dropLast(2))
      #expect(role == .composed || once.allSatisfy { $0.number != $1.number })
      var leads: [Double] = []
      for tick in 0...Int(((frames.last?.start ?? 0) * 30).rounded()) {
        let seconds = Double(tick) / 30
        let number = try #require(frames.last { $0.start < seconds + 0.001 }).number
        // Counters have eight bits.
        let distances = times.indices.filter { $0 % 256 == number }.map { times[$0] - seconds }
        let lead = try #require(distances.min { abs($0) < abs($1) })
        let least = times.map { abs($0 - seconds) }.min() ?? 0
        // Two frames may be equally near.
        #expect(abs(lead) <= least + 0.002, "\(role.rawValue) at \(seconds) s")
        leads.append(lead)
      }
      #expect(leads.count == 150 || framesPerSecond == 29.97 && leads.count == 149, "\(leads.count)")
      let pictures = leads.reduce(0, +) / Double(leads.count)
      let sound = try #require(try video.audio()).lead(before: #require(try DecodedClip(front).audio()))
      #expect(
        abs(pictures - sound) < 0.002,
        "\(role.rawValue): pictures lead by \(pictures) s, and the sound by \(sound) s")
    }
  }

  /// A clip whose parameter sets may lie among the frames, which is not copied but encoded.
  private static func notCopied(_ clip: OpenFile) throws -> OpenFile {
    var bytes = try TemporaryFile.bytes(of: clip)
    let entries = try #require(bytes.firstRange(of: Array("stsd".utf8))).upperBound
    let entry = try #require(bytes[entries...].firstRange(of: Array("avc1".utf8)))
    bytes.replaceSubrange(entry, with: Array("avc3".utf8))
    return try TemporaryFile.make(bytes)
  }

  @Test("the sound of a slow camera, and of one that pauses, stays where it is", arguments: [10.0, 15, 30])
  func slowCameras(framesPerSecond: Double) throws {
    var times = (0..<Int(5 * framesPerSecond)).map { Double($0) / framesPerSecond }
    if framesPerSecond == 30 { times.removeSubrange(31..<60) }
    var tone = MarkedClip.Tone(440)
    tone.room = (start: 0, seed: 7)
    let front = try MarkedClip(.red, times: times, seconds: 5, tone: tone).write()
    let run = try MomentRun(front: front, back: MarkedClip(.blue).write())
    let sound = try #require(try run.video(.composed).audio()).lead(before: #require(try DecodedClip(front).audio()))
    #expect(abs(sound) < 0.001, "the sound leads by \(sound) s")
  }

  @Test("a clip whose video starts late counts from its first frame")
  func lateStart() throws {
    let times = (0..<150).map { 0.4 + Double($0) / 30 }
    let front = MarkedClip(.red, times: times, seconds: 5.4, tone: .init(440, delay: 0.9))
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).audio()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) has its onset at \(onset) s")
    }
  }

  @Test("a frozen clip stays frozen while the other one moves")
  func frozen() throws {
    var front = MarkedClip(.red)
    front.frozenFrom = 60
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    let inset = try #require(run.plan?.composition?.inset)
    var last: (Int?, Int?) = (nil, nil)
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      last = (composed.inset, composed.background)
    }
    #expect(last == (60, 149))
  }

  @Test("time spans are whole numbers of ticks")
  func grid() {
    let grid = TimeGrid(rate: 30)
    #expect(grid.ticks(in: 4.99) == 150)
    #expect(grid.wholeTicks(in: 5.034) == 151)
  }
}

extension DecodedAudio {
  /// The time of the same sound in the other one minus that in this one, in seconds: where both agree best, up to 10 ms, at the
  /// loudest sample of the second from 2 s on.
  fileprivate func lead(before other: DecodedAudio) -> Double {
    let first = (2 * sampleRate..<3 * sampleRate).max { abs(samples[$0]) < abs(samples[$1]) } ?? 0
    let (count, most) = (1024, sampleRate / 100)
    let agreement = (-most...most).map { shift in
      (0..<count).reduce(Float(0)) { $0 + samples[first + $1] * other.samples[first + $1 + shift] }
    }
    let best = agreement.indices.max { agreement[$0] < agreement[$1] } ?? 0
    return Double(best - most) / Double(sampleRate) + other.start - start
  }
}
