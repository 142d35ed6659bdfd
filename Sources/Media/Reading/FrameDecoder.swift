import AV
import Model

/// Decodes the pictures of one input in order and checks each of them.
final class FrameDecoder: FrameSource {
  let demuxer: Demuxer
  private let source: InputSource
  private let video: VideoFacts
  private let timeBase: Rational
  private let decoder: Decoder
  private let packet: Packet
  private let expected: PacketScan?
  private var openStart: OpenStart
  private var firstTicks: Int64?
  private var lastTicks: Int64 = 0

  /// Opens the input; nothing is read of it before the first picture is asked for.
  ///
  /// - Parameters:
  ///   - plan: which streams are read.
  ///   - expected: the times that the pictures must have; nil: any that grow.
  init(_ source: InputSource, plan: InputPlan, expected: PacketScan?) throws(Stop) {
    demuxer = try source.open(selecting: plan)
    self.source = source
    self.expected = expected
    video = plan.facts.video
    timeBase = demuxer.streams[video.stream].timeBase
    openStart = OpenStart(demuxer.streams[video.stream])
    do {
      decoder = try Decoder(
        stream: video.stream, of: demuxer, limits: source.decoderLimits(source.videoCodecs))
    } catch {
      throw source.blame(error, .unsupportedCodec, "its video cannot be decoded")
    }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
  }

  /// Whether its frames are of two moments each.
  var isInterlaced: Bool { video.isInterlaced == true }

  /// Decodes the next picture that is shown.
  func next(
    into picture: borrowing Frame, packets: (borrowing Packet) throws(Stop) -> Void
  ) throws(Stop) -> Int64? {
    while true {
      switch try receive(into: picture) {
      case .output:
        if let ticks = try accept(picture) { return ticks }
      case .needsInput:
        try feed(packets)
      case .ended:
        return nil
      }
    }
  }

  /// The time that counts as zero for all streams of the file, in ticks of the video stream.
  private var origin: Int64 { expected?.origin ?? firstTicks ?? 0 }

  private func receive(into picture: borrowing Frame) throws(Stop) -> Received {
    do {
      return try decoder.receive(into: picture)
    } catch {
      throw damaged("a picture cannot be decoded", error)
    }
  }

  /// Checks a decoded picture; nil for one that an edit list hides, or that one before it stands for.
  private func accept(_ picture: borrowing Frame) throws(Stop) -> Int64? {
    guard let ticks = picture.pts ?? picture.bestTimestamp else { throw damaged("a picture has no time") }
    if let expected, ticks < expected.origin { return nil }
    if video.isHeld(at: timeBase.seconds(ticks)) { return nil }
    if picture.isDamaged { throw damaged("a picture is damaged", at: ticks) }
    guard picture.width == video.coded.width, picture.height == video.coded.height,
      picture.format.description == video.pixelFormat
    else {
      let found = "\(picture.width)x\(picture.height) \(picture.format)"
      throw damaged("a picture of \(found) stands among others", at: ticks)
    }
    if firstTicks == nil {
      firstTicks = ticks
    } else if ticks <= lastTicks {
      throw damaged("the pictures' times do not grow", at: ticks)
    }
    lastTicks = ticks
    try checkLength(ticks)
    return ticks
  }

  // The packets' times said that it is short enough; a decoder that disagrees must not go on for ever.
  private func checkLength(_ ticks: Int64) throws(Stop) {
    guard let longest = source.limits.seconds?.longest else { return }
    if timeBase.seconds(ticks - origin) > longest + 1 { throw damaged("the pictures go on past the end", at: ticks) }
  }

  /// Gives the decoder the next packet of the video stream, and everybody all packets on the way.
  private func feed(_ packets: (borrowing Packet) throws(Stop) -> Void) throws(Stop) {
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      try packets(packet)
      guard packet.stream == video.stream, !openStart.isLeading(packet) else { continue }
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
    let seconds = timeBase.seconds((ticks ?? lastTicks) - origin)
    if let error { return source.blame(error, .corruptVideo, what, at: seconds) }
    return source.refusal(.corruptVideo, what, seconds: seconds)
  }
}
