import AV
import Model

/// Reads one input once: takes its pictures in order, and hands packets and pictures to whoever wants them.
///
/// It holds two pictures, the current one and the one that follows, since only the second says how long the first lasts.
final class ClipReader {
  let source: InputSource
  let plan: InputPlan
  /// Of the video stream.
  let timeBase: Rational
  /// Who wants the packets of the input; complete before `prepare()`.
  var packetTaps: [any PacketTap] = []
  /// Who wants the pictures of the input; complete before `prepare()`.
  var frameTaps: [any FrameTap] = []
  /// The form in which pictures are prepared when they are decoded ahead; set before `prepare()`.
  var preparation: Preparation?
  /// The picture that is shown now.
  private(set) var current: Frame
  /// The current picture as it was prepared; nil if it was not.
  private(set) var prepared: Frame?
  /// The number of pictures that were shown up to now, the current one included.
  private(set) var frames = 0

  private let mode: ExecutionMode
  private let expected: PacketScan?
  private var pictures: any FrameSource
  private var following: Frame
  private var followingPrepared: Frame?
  /// When the following picture is shown, in the file's own ticks; nil after the last one.
  private var followingTicks: Int64?
  private var currentTicks: Int64 = 0
  private var firstTicks: Int64?
  private var lastDuration: Int64 = 0

  /// Opens the input; nothing is read of it before `start()`.
  ///
  /// - Parameters:
  ///   - plan: which streams are read.
  ///   - expected: the times that the pictures must have; nil: any that grow.
  init(_ source: InputSource, plan: InputPlan, expected: PacketScan?, mode: ExecutionMode) throws(Stop) {
    self.source = source
    self.plan = plan
    self.expected = expected
    self.mode = mode
    let decoder = try FrameDecoder(source, plan: plan, expected: expected)
    timeBase = decoder.demuxer.streams[plan.facts.video.stream].timeBase
    pictures = try decoder.deinterlaced()
    current = try Stop.wrap { () throws(AVError) in try Frame() }
    following = try Stop.wrap { () throws(AVError) in try Frame() }
  }

  /// The input's headers.
  var demuxer: Demuxer { _read { yield pictures.demuxer } }

  /// Whether the current picture may be drawn on: nothing is decoded that refers to it meanwhile.
  var lendsPictures: Bool { mode == .throughput }

  /// The time that counts as zero for all streams of the file, in ticks of the video stream.
  var origin: Int64 { expected?.origin ?? firstTicks ?? 0 }

  /// When the first picture is shown by the file's own clock, in seconds.
  var startSeconds: Double? { firstTicks.map { timeBase.seconds($0) } }

  /// From the first picture's beginning to the last one's end, in seconds, as far as it is decoded.
  var decodedSeconds: Double {
    firstTicks.map { timeBase.seconds(currentTicks - $0 + lastDuration) } ?? 0
  }

  /// Begins to decode ahead, if that is the mode; every tap is in its place, since packets are read only once.
  func prepare() throws(Stop) {
    guard mode == .latency else { return }
    pictures = try DecodeAhead(
      source, plan: plan, expected: expected, preparation: preparation, sendsPackets: !packetTaps.isEmpty)
  }

  /// Takes the first picture, which then follows.
  func start() throws(Stop) {
    try takeFollowing()
    guard followingTicks != nil else { throw source.refusal(.corruptVideo, "no picture of it can be decoded") }
  }

  /// Makes the picture current that is shown in a slot of the grid; before the first picture that is the first one,
  /// and before slot 0 none.
  ///
  /// Whoever changed the current picture has put it back as it was: the decoder refers to it.
  func advance(toSlot slot: Int, of grid: TimeGrid) throws(Stop) {
    while slot >= 0, let ticks = followingTicks, frames == 0 || grid.slot(of: ticks - origin, in: timeBase) <= slot {
      try advance()
    }
  }

  /// Makes the following picture current; false after the last one.
  @discardableResult
  func advance() throws(Stop) -> Bool {
    guard let ticks = followingTicks else { return false }
    swap(&current, &following)
    giveBackPrepared()
    prepared = followingPrepared.take()
    currentTicks = ticks
    lastDuration = max(0, current.duration)
    frames += 1
    try takeFollowing()
    let end = followingTicks.map { timeBase.seconds($0 - origin) }
    for tap in frameTaps where !tap.isSatisfied { try tap.take(current, until: end) }
    return true
  }

  /// Decodes what is left and checks that nothing was missing.
  func finish() throws(Stop) {
    while try advance() {}
    guard let expected, let firstTicks else { return }
    // Pictures that lean on others before a clip's beginning cannot be decoded and are no damage.
    let wanted = expected.times.lazy.filter { $0 >= firstTicks }.count
    guard frames == wanted else {
      throw source.refusal(.corruptVideo, "\(wanted - frames) of its \(wanted) pictures cannot be decoded")
    }
  }

  /// Lends the current picture as it was prepared; false if it was not.
  func withPrepared(_ use: (borrowing Frame) throws(Stop) -> Void) throws(Stop) -> Bool {
    switch prepared {
    case .some(let frame):
      try use(frame)
      return true
    case .none: return false
    }
  }

  private func takeFollowing() throws(Stop) {
    let ticks = try pictures.next(into: following) { (packet) throws(Stop) in
      for tap in packetTaps { try tap.take(packet) }
    }
    if let ticks {
      if firstTicks == nil { firstTicks = ticks }
      followingPrepared = (pictures as? DecodeAhead)?.takePrepared()
    } else if let last = expected?.lastDuration {
      lastDuration = last
    }
    followingTicks = ticks
  }

  private func giveBackPrepared() {
    guard let frame = prepared.take() else { return }
    (pictures as? DecodeAhead)?.reuse(frame)
  }
}
