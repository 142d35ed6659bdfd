import AV
import Model

/// Reads one input once: decodes its pictures in order, checks each, and hands packets and pictures to whoever wants them.
///
/// It holds two pictures, the current one and the one that follows, since only the second says how long the first lasts.
final class ClipReader {
  let source: InputSource
  let plan: InputPlan
  let demuxer: Demuxer
  /// Of the video stream.
  let timeBase: Rational
  /// Who wants the packets of the input.
  var packetTaps: [any PacketTap] = []
  /// Who wants the pictures of the input.
  var frameTaps: [any FrameTap] = []
  /// The picture that is shown now.
  private(set) var current: Frame
  /// The number of pictures that were shown up to now, the current one included.
  private(set) var frames = 0

  private let decoder: Decoder
  private let packet: Packet
  private let expected: PacketScan?
  private var following: Frame
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
  init(_ source: InputSource, plan: InputPlan, expected: PacketScan?) throws(Stop) {
    let stream = plan.facts.video.stream
    demuxer = try source.open()
    guard demuxer.streams.indices.contains(stream) else {
      throw source.refusal(.noVideoStream, "stream \(stream) is not there")
    }
    self.source = source
    self.plan = plan
    self.expected = expected
    timeBase = demuxer.streams[stream].timeBase
    demuxer.select(Set([stream, plan.readsAudio ? plan.facts.audio?.stream : nil].compactMap { $0 }))
    do {
      decoder = try Decoder(stream: stream, of: demuxer, limits: source.decoderLimits(source.limits.videoCodecs))
    } catch {
      throw source.blame(error, .unsupportedCodec, "its video cannot be decoded")
    }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
    current = try Stop.wrap { () throws(AVError) in try Frame() }
    following = try Stop.wrap { () throws(AVError) in try Frame() }
  }

  /// The time that counts as zero for all streams of the file, in ticks of the video stream.
  var origin: Int64 { expected?.origin ?? firstTicks ?? 0 }

  /// From the first picture's beginning to the last one's end, in seconds, as far as it is decoded.
  var decodedSeconds: Double {
    firstTicks.map { timeBase.seconds(currentTicks - $0 + lastDuration) } ?? 0
  }

  /// Decodes the first picture, which then follows; every tap is in its place, since packets are read only once.
  func start() throws(Stop) {
    try decodeFollowing()
    guard followingTicks != nil else { throw source.refusal(.corruptVideo, "no picture of it can be decoded") }
  }

  /// Makes the picture current that is shown in a slot of the grid; before the first picture that is the first one.
  ///
  /// Whoever changed the current picture has put it back as it was: the decoder refers to it.
  func advance(toSlot slot: Int, of grid: TimeGrid) throws(Stop) {
    while let ticks = followingTicks, frames == 0 || grid.slot(of: ticks - origin, in: timeBase) <= slot {
      try advance()
    }
  }

  /// Makes the following picture current; false after the last one.
  @discardableResult
  func advance() throws(Stop) -> Bool {
    guard let ticks = followingTicks else { return false }
    swap(&current, &following)
    currentTicks = ticks
    lastDuration = max(0, current.duration)
    frames += 1
    try decodeFollowing()
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

  private func decodeFollowing() throws(Stop) {
    while true {
      switch try receive() {
      case .output:
        if try accept() { return }
      case .needsInput:
        try feed()
      case .ended:
        if let last = expected?.lastDuration { lastDuration = last }
        followingTicks = nil
        return
      }
    }
  }

  private func receive() throws(Stop) -> Received {
    do {
      return try decoder.receive(into: following)
    } catch {
      throw damaged("a picture cannot be decoded", error)
    }
  }

  /// Checks a decoded picture; false for one that an edit list hides.
  private func accept() throws(Stop) -> Bool {
    guard let ticks = following.pts ?? following.bestTimestamp else {
      throw damaged("a picture has no time")
    }
    if let expected, ticks < expected.origin { return false }
    if following.isDamaged { throw damaged("a picture is damaged", at: ticks) }
    let video = plan.facts.video
    guard following.width == video.coded.width, following.height == video.coded.height,
      following.format.description == video.pixelFormat
    else {
      let found = "\(following.width)x\(following.height) \(following.format)"
      throw damaged("a picture of \(found) stands among others", at: ticks)
    }
    if firstTicks == nil {
      firstTicks = ticks
    } else if ticks <= (followingTicks ?? currentTicks) {
      throw damaged("the pictures' times do not grow", at: ticks)
    }
    followingTicks = ticks
    try checkLength(ticks)
    return true
  }

  // The packets' times said that it is short enough; a decoder that disagrees must not go on for ever.
  private func checkLength(_ ticks: Int64) throws(Stop) {
    guard let longest = source.limits.seconds?.longest else { return }
    if timeBase.seconds(ticks - origin) > longest + 1 { throw damaged("the pictures go on past the end", at: ticks) }
  }

  /// Gives the decoder the next packet of the video stream, and the taps all packets on the way.
  private func feed() throws(Stop) {
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      for tap in packetTaps { try tap.take(packet) }
      guard packet.stream == plan.facts.video.stream else { continue }
      if packet.isCorrupt { throw damaged("a packet is damaged") }
      do {
        try decoder.send(packet)
      } catch {
        throw damaged("a packet cannot be decoded", error)
      }
      return
    }
    do {
      try decoder.finish()
    } catch {
      throw damaged("the last pictures cannot be decoded", error)
    }
  }

  private func damaged(_ what: String, _ error: AVError? = nil, at ticks: Int64? = nil) -> Stop {
    let seconds = timeBase.seconds((ticks ?? followingTicks ?? currentTicks) - origin)
    if let error { return source.blame(error, .corruptVideo, what, at: seconds) }
    return source.refusal(.corruptVideo, what, seconds: seconds)
  }
}
