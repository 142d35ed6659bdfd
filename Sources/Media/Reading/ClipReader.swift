import AV
import Model

/// Reads one input once: it decodes the frames in order and passes packets and frames to the taps.
///
/// It holds two frames, the current and the following one, as the following one determines when the current one ends.
final class ClipReader {
  let source: InputSource
  let plan: InputPlan
  /// The time base of the video stream.
  let timeBase: Rational
  /// Receive the packets of the input; complete before `prepare()`.
  var packetTaps: [any PacketTap] = []
  /// Receive the frames of the input; complete before `prepare()`.
  var frameTaps: [any FrameTap] = []
  /// The form into which frames are converted when they are decoded ahead; set before `prepare()`.
  var preparation: Preparation?
  /// The frame that is shown now.
  private(set) var current: Frame
  /// The current frame in the prepared form; nil if it was not prepared.
  private(set) var prepared: Frame?
  /// The number of frames that were shown, including the current one.
  private(set) var frames = 0

  let mode: ExecutionMode
  let expected: PacketScan?
  private var frameSource: any FrameSource
  private var following: Frame
  private var followingPrepared: Frame?
  /// The timestamp of the following frame, in ticks of the video stream; nil after the last frame.
  private var followingTicks: Int64?
  private var currentTicks: Int64 = 0
  private var firstTicks: Int64?
  private var lastDuration: Int64 = 0
  private var pacing: FramePacing?
  /// The end of what stills, previews and warnings show of the clip, in seconds from its start. A composition may need later frames.
  private let tapEnd: Double

  /// Opens the input; reads no packet before `start()`.
  ///
  /// - Parameters:
  ///   - plan: names the streams that are read.
  ///   - expected: the timestamps that the frames must have; nil accepts all that increase.
  init(_ source: InputSource, plan: InputPlan, expected: PacketScan?, mode: ExecutionMode) throws(RunFailure) {
    self.source = source
    self.plan = plan
    self.expected = expected
    self.mode = mode
    tapEnd = source.limits.trimSeconds ?? .infinity
    let decoder = try FrameDecoder(source, plan: plan, expected: expected)
    timeBase = decoder.demuxer.streams[plan.facts.video.stream].timeBase
    frameSource = try decoder.deinterlaced()
    current = try RunFailure.wrap { () throws(AVError) in try Frame() }
    following = try RunFailure.wrap { () throws(AVError) in try Frame() }
  }

  /// The input's headers.
  var demuxer: Demuxer { _read { yield frameSource.demuxer } }

  /// Whether the current frame may be drawn on: the decoder does not read it at the same time.
  var allowsDrawingInPlace: Bool { mode == .throughput }

  /// The time that counts as zero for all streams of the file, in ticks of the video stream.
  var origin: Int64 { expected?.origin ?? firstTicks ?? 0 }

  /// The mean time by which ticks of a grid show the pictures early, in seconds: by as much the sound is to start later. Less than a
  /// millisecond is jitter, and counts as none.
  func lead(in ticks: Range<Int>, of grid: TimeGrid) -> Double {
    let lead = expected?.lead(in: ticks, of: grid) ?? 0
    return abs(lead) < 0.001 ? 0 : lead
  }

  /// The timestamp of the first frame, in seconds.
  var startSeconds: Double? { firstTicks.map { timeBase.seconds($0) } }

  /// The time from the start of the first frame to the end of the current one, in seconds; 0 before the first frame is
  /// current.
  var decodedSeconds: Double {
    guard frames > 0, let firstTicks else { return 0 }
    return timeBase.seconds(currentTicks - firstTicks + lastDuration)
  }

  /// Starts to decode ahead in the latency mode. All taps must be set, as packets are read only once.
  func prepare() throws(RunFailure) {
    guard mode == .latency else { return }
    frameSource = try DecodeAhead(
      source, plan: plan, expected: expected, preparation: preparation, sendsPackets: !packetTaps.isEmpty)
  }

  /// Decodes the first frame, which becomes the following one.
  func start() throws(RunFailure) {
    try decodeFollowing()
    guard followingTicks != nil else { throw source.refusal(.corruptVideo, "none of its frames can be decoded") }
  }

  /// Makes the frame current that a tick of the grid shows; that is the first frame if it starts later, and no frame
  /// for a tick before 0.
  ///
  /// The current frame must be unchanged or restored, as the decoder refers to it.
  func advance(toTick tick: Int, of grid: TimeGrid) throws(RunFailure) {
    guard tick >= 0 else { return }
    if frames == 0 { try advance() }
    let time = grid.seconds(tick)
    var pacing = pacing ?? FramePacing(grid)
    while let ticks = followingTicks,
      pacing.prefersFollowing(timeBase.seconds(ticks - origin), to: timeBase.seconds(currentTicks - origin), at: time)
    {
      try advance()
    }
    pacing.finish(time, shown: timeBase.seconds(currentTicks - origin))
    self.pacing = pacing
  }

  /// Makes the following frame current; returns false after the last one.
  @discardableResult
  func advance() throws(RunFailure) -> Bool {
    guard let ticks = followingTicks else { return false }
    swap(&current, &following)
    recyclePrepared()
    prepared = followingPrepared.take()
    currentTicks = ticks
    lastDuration = max(0, current.duration)
    frames += 1
    try decodeFollowing()
    try tapCurrent()
    return true
  }

  private func tapCurrent() throws(RunFailure) {
    guard timeBase.seconds(currentTicks - origin) < tapEnd else { return }
    let next = followingTicks.map { timeBase.seconds($0 - origin) }
    let end = next.flatMap { $0 < tapEnd ? $0 : nil }
    for tap in frameTaps where !tap.isFinished { try tap.take(current, until: end) }
  }

  /// Decodes the rest of the used part and checks that no frame is missing.
  func finish() throws(RunFailure) {
    while try advance() {}
    if isCut { try passRest() }
    guard let expected, let firstTicks else { return }
    // Frames that refer to frames before the start of the clip cannot be decoded; that is not damage.
    let expectedCount = expected.count(from: firstTicks)
    let missing = expectedCount - frames - frameSource.misplaced
    guard missing == 0 else {
      throw source.refusal(.corruptVideo, "\(missing) of its \(expectedCount) frames cannot be decoded")
    }
  }

  /// The decision about frames whose times are out of order; nil without such frames. Known after `finish()`.
  var misplacedDecision: Decision? {
    let count = frameSource.misplaced
    guard count > 0 else { return nil }
    return Decision(
      .timeGrid, input: source.name, choice: count == 1 ? "one frame is left out" : "\(count) frames are left out",
      reason: count == 1 ? "its time in the file is out of order" : "their times in the file are out of order")
  }

  /// Calls `use` with the current frame in the prepared form; returns false if it was not prepared.
  func withPrepared(_ use: (borrowing Frame) throws(RunFailure) -> Void) throws(RunFailure) -> Bool {
    switch prepared {
    case .some(let frame):
      try use(frame)
      return true
    case .none: return false
    }
  }

  /// Replaces the following frame by a later one at which decoding can begin; does nothing if that is no later one.
  func skip(to refresh: Int64) throws(RunFailure) {
    guard let ticks = followingTicks, refresh > ticks else { return }
    try frameSource.skip(to: refresh, packets: tapPacket)
    try decodeFollowing()
  }

  /// Reads the rest of the packets without decoding them, of a clip that is cut as far as outputs need them.
  func passRest() throws(RunFailure) {
    try frameSource.passRest(tapPacket) { isCut && packetTaps.allSatisfy(\.isFinished) }
  }

  /// Whether the clip has frames behind those that are decoded.
  private var isCut: Bool { expected?.end != nil }

  private func tapPacket(_ packet: borrowing Packet) throws(RunFailure) {
    for tap in packetTaps { try tap.take(packet) }
  }

  private func decodeFollowing() throws(RunFailure) {
    let ticks = try frameSource.next(into: following, packets: tapPacket)
    if let ticks {
      if firstTicks == nil { firstTicks = ticks }
      followingPrepared = frameSource.takePrepared()
    } else if let last = expected?.lastDuration {
      lastDuration = last
    }
    followingTicks = ticks
  }

  private func recyclePrepared() {
    guard let frame = prepared.take() else { return }
    frameSource.reuse(frame)
  }
}

/// Receives the packets of an input as they are read, in the order of the file.
protocol PacketTap: AnyObject {
  /// Whether no packet is awaited that it needs.
  var isFinished: Bool { get }

  /// - Parameter packet: in the time base of its stream; a tap that stores it takes a reference.
  func take(_ packet: borrowing Packet) throws(RunFailure)
}

/// Receives the frames of an input as they are decoded, in presentation order.
protocol FrameTap: AnyObject {
  /// Whether it needs no more frames.
  var isFinished: Bool { get }

  /// - Parameters:
  ///   - frame: valid during the call; its memory is reused.
  ///   - end: the time of the next frame, in seconds from the start of the clip; nil for the last frame that is used.
  func take(_ frame: borrowing Frame, until end: Double?) throws(RunFailure)
}
