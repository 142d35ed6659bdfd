import AV
import ISOBaseMedia
import Model

/// A source of an input's frames and packets: decoded on demand, or ahead on another thread.
///
/// Both give the same frames and packets in the same order.
protocol FrameSource: AnyObject {
  /// The input's headers.
  var demuxer: Demuxer { get }

  /// The number of frames that are left out, because they are not later than those before; known after the last frame.
  var misplaced: Int { get }

  /// Decodes the next frame that is shown; returns its timestamp in ticks of the video stream, or nil after the last
  /// one that is used.
  ///
  /// - Parameters:
  ///   - frame: receives the frame.
  ///   - packets: called with every packet that is read on the way, in the order of the file.
  func next(
    into frame: borrowing Frame, packets: (borrowing Packet) throws(RunFailure) -> Void
  ) throws(RunFailure) -> Int64?

  /// Goes on at a later frame, by its timestamp, at which decoding can begin: the frames before it are left out.
  func skip(to refresh: Int64, packets: (borrowing Packet) throws(RunFailure) -> Void) throws(RunFailure)

  /// Reads the rest of the packets, without decoding them, until `isFinished` returns true.
  func passRest(
    _ packets: (borrowing Packet) throws(RunFailure) -> Void, until isFinished: () -> Bool
  ) throws(RunFailure)

  /// Returns the prepared form of the last frame, which the caller gives back with `reuse`; nil if it was not prepared.
  func takePrepared() -> Frame?

  /// Returns a prepared frame, whose memory is reused.
  func reuse(_ frame: consuming Frame)
}

extension FrameSource {
  // On the thread of the consumer nothing is gained by preparing a frame.
  func takePrepared() -> Frame? { nil }

  func reuse(_ frame: consuming Frame) {}
}

/// Decodes the frames of one input in order and checks each of them.
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
  /// The latest timestamp that the decoder was sent.
  private var lastSent = Int64.min
  private(set) var misplaced = 0
  /// The number of frames that are still to come before the end of the used part; nil before the first one.
  private var awaited: Int?
  /// The number of decoded frames that lie behind the used part.
  private var unused = 0

  // Cameras and programs that rewrite files misplace one or two; a clip with more is damaged.
  private static let maxMisplaced = 5

  /// Opens the input; reads no packet before the first call of `next`.
  ///
  /// - Parameters:
  ///   - plan: names the streams that are read.
  ///   - expected: the timestamps that the frames must have; nil accepts all that increase.
  init(_ source: InputSource, plan: InputPlan, expected: PacketScan?) throws(RunFailure) {
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
      throw source.failure(for: error, .unsupportedCodec, "its video cannot be decoded")
    }
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
  }

  /// Whether each frame holds two fields of different times.
  var isInterlaced: Bool { video.isInterlaced == true }

  func next(
    into frame: borrowing Frame, packets: (borrowing Packet) throws(RunFailure) -> Void
  ) throws(RunFailure) -> Int64? {
    while !isPastEnd {
      switch try receive(into: frame) {
      case .output:
        if let ticks = try accept(frame) { return ticks }
      case .needsInput:
        try feed(packets)
      case .ended:
        return nil
      }
    }
    return nil
  }

  /// Whether all frames of the used part are decoded. A frame whose time is out of order may come after the first ones behind it.
  private var isPastEnd: Bool {
    expected?.end != nil && (awaited.map { $0 <= 0 } ?? false || unused > Self.maxMisplaced)
  }

  /// The time that counts as zero for all streams of the file, in ticks of the video stream.
  private var origin: Int64 { expected?.origin ?? firstTicks ?? 0 }

  private func receive(into frame: borrowing Frame) throws(RunFailure) -> Received {
    do {
      return try decoder.receive(into: frame)
    } catch {
      throw damaged("a frame cannot be decoded", error)
    }
  }

  /// Checks a decoded frame and returns its timestamp; nil for one that the edit list hides or replaces by a held
  /// frame, or that is misplaced.
  private func accept(_ frame: borrowing Frame) throws(RunFailure) -> Int64? {
    guard let ticks = frame.pts ?? frame.bestTimestamp else { throw damaged("a frame has no timestamp") }
    if let expected, ticks < expected.origin { return nil }
    if let end = expected?.end, ticks >= end {
      unused += 1
      return nil
    }
    if video.isRepeated(at: timeBase.seconds(ticks)) { return nil }
    if frame.isDamaged { throw damaged("a frame is damaged", at: ticks) }
    guard frame.width == video.coded.width, frame.height == video.coded.height,
      frame.format.description == video.pixelFormat
    else {
      let found = "\(frame.width)x\(frame.height) \(frame.format)"
      throw damaged("a frame of \(found) differs from the others", at: ticks)
    }
    awaited = (awaited ?? expected?.count(from: ticks)).map { $0 - 1 }
    if firstTicks == nil {
      firstTicks = ticks
    } else if ticks <= lastTicks || expected?.hasTimes(Self.maxMisplaced, after: lastTicks, before: ticks) == true {
      misplaced += 1
      guard misplaced <= Self.maxMisplaced else {
        throw damaged("the times of more than \(Self.maxMisplaced) frames are out of order", at: ticks)
      }
      return nil
    }
    lastTicks = ticks
    try checkLength(ticks)
    return ticks
  }

  // The timestamps of the packets are within the limit; a decoder that returns others must not run on without end.
  private func checkLength(_ ticks: Int64) throws(RunFailure) {
    guard let longest = source.limits.seconds?.longest else { return }
    if timeBase.seconds(ticks - origin) > longest + 1 { throw damaged("there are frames past the end", at: ticks) }
  }

  /// Sends the decoder the next packet of the video stream, and calls `packets` with every packet on the way.
  private func feed(_ packets: (borrowing Packet) throws(RunFailure) -> Void) throws(RunFailure) {
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      try packets(packet)
      guard packet.stream == video.stream, !openStart.isLeading(packet) else { continue }
      try send()
      return
    }
    do {
      try decoder.finish()
    } catch {
      throw damaged("the last frames cannot be decoded", error)
    }
  }

  private func send() throws(RunFailure) {
    if packet.isCorrupt { throw damaged("a packet is damaged") }
    lastSent = max(lastSent, packet.pts ?? packet.dts ?? lastSent)
    do {
      try decoder.send(packet)
    } catch {
      throw damaged("a packet cannot be decoded", error)
    }
  }

  func skip(
    to refresh: Int64, packets: (borrowing Packet) throws(RunFailure) -> Void
  ) throws(RunFailure) {
    guard refresh > lastSent else { return }
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      try packets(packet)
      guard packet.stream == video.stream, packet.isKey, packet.pts ?? packet.dts == refresh else { continue }
      decoder.flush()
      lastTicks = refresh - 1
      awaited = expected?.count(from: refresh)
      try send()
      return
    }
    throw damaged("a frame at which decoding can begin is missing", at: refresh)
  }

  func passRest(
    _ packets: (borrowing Packet) throws(RunFailure) -> Void, until isFinished: () -> Bool
  ) throws(RunFailure) {
    while !isFinished(), try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      try packets(packet)
    }
  }

  private func damaged(_ finding: String, _ error: AVError? = nil, at ticks: Int64? = nil) -> RunFailure {
    let seconds = timeBase.seconds((ticks ?? lastTicks) - origin)
    if let error { return source.failure(for: error, .corruptVideo, finding, at: seconds) }
    return source.refusal(.corruptVideo, finding, seconds: seconds)
  }
}

/// Detects the leading frames of a clip that was cut at an open GOP: they refer to frames before the cut.
///
/// FFmpeg's HEVC decoder skips them (ITU-T H.265, RASL pictures); its H.264 decoder reports them as damage.
struct OpenStart {
  private enum State {
    case unread(AVCConfiguration?)
    /// The timestamp of the first packet; frames that are shown before it refer to missing frames.
    case open(Int64)
    case closed
  }

  private var state: State

  init(_ stream: StreamInfo) {
    state = stream.codec == "h264" ? .unread(AVCConfiguration(stream.configuration)) : .closed
  }

  /// Whether a packet of the stream is a leading frame; called in decoding order.
  mutating func isLeading(_ packet: borrowing Packet) -> Bool {
    switch state {
    case .closed: return false
    case .open(let first): return packet.pts.map { $0 < first } ?? false
    case .unread(let configuration):
      let isOpen = configuration.map { !AVCSample(packet, $0).isRefresh } ?? false
      state = if isOpen, let pts = packet.pts { .open(pts) } else { .closed }
      return false
    }
  }
}
