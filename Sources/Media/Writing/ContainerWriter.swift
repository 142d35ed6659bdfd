import AV
import Model
import Platform

/// Writes one MP4 file: a muxer over an output file.
final class ContainerWriter {
  let role: Role
  let muxer: Muxer
  private let file: OpenFile

  init(_ role: Role, file: OpenFile) throws(RunFailure) {
    self.role = role
    self.file = file
    muxer = try RunFailure.wrap { () throws(AVError) in try Muxer(writing: file) }
  }

  /// Writes a packet to a stream.
  func write(_ packet: borrowing Packet, to stream: Int, timeBase: Rational) throws(RunFailure) {
    do { try muxer.write(packet, to: stream, timeBase: timeBase) } catch { throw RunFailure(error) }
  }

  /// Writes the header, after all streams are added.
  func start() throws(RunFailure) {
    do { try muxer.start() } catch { throw RunFailure(error) }
  }

  /// Completes the file.
  ///
  /// - Parameters:
  ///   - size: as displayed.
  ///   - seconds: the duration of the video stream.
  func finish(size: Size, seconds: Double) throws(RunFailure) -> OutputFacts {
    do { try muxer.finish() } catch { throw RunFailure(error) }
    do {
      return OutputFacts(
        role: role, type: "video/mp4", bytes: try file.descriptor.size(), width: size.width, height: size.height,
        duration: seconds)
    } catch {
      throw RunFailure(error)
    }
  }
}

/// Encodes the video stream of an output, at most one frame for each tick of the grid.
final class VideoTrack {
  static let encoderName = "libx264"

  private let container: ContainerWriter
  private let encoder: VideoEncoder
  private let packet: Packet
  private let stream: Int
  /// The tick after the last frame's.
  private var next = 0
  private var decodingTimes = DecodingTimes()

  /// Adds a stream to a container that is not started yet.
  init(_ video: Definition.VideoEncoding, size: Size, grid: TimeGrid, container: ContainerWriter) throws(RunFailure) {
    self.container = container
    encoder = try Self.encoder(video, size: size, grid: grid)
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
    do { stream = try container.muxer.addStream(of: encoder) } catch { throw RunFailure(error) }
  }

  /// Opens the encoder of a stream whose frames have the times of ticks of the grid.
  static func encoder(
    _ video: Definition.VideoEncoding, size: Size, grid: TimeGrid
  ) throws(RunFailure) -> VideoEncoder {
    let settings = VideoEncoderSettings(
      encoder: encoderName,
      options: ["preset": video.preset, "crf": "\(video.crf)", "x264-params": video.x264Parameters],
      profile: "high", width: size.width, height: size.height,
      timeBase: grid.timeBase, frameRate: Rational(Int32(grid.rate), 1))
    return try RunFailure.wrap { () throws(AVError) in try VideoEncoder(settings) }
  }

  /// Encodes the next frame; the frame's memory can be reused afterwards.
  ///
  /// - Parameter tick: its time, later than the time of the frame before; nil: the next one.
  func encode(_ frame: borrowing Frame, at tick: Int? = nil) throws(RunFailure) {
    let tick = tick ?? next
    frame.pts = Int64(tick)
    decodingTimes.add(Int64(tick))
    next = tick + 1
    do { try encoder.send(frame) } catch { throw RunFailure(error) }
    try writePackets()
  }

  /// Flushes the encoder.
  func finish() throws(RunFailure) {
    do { try encoder.finish() } catch { throw RunFailure(error) }
    try writePackets()
  }

  private func writePackets() throws(RunFailure) {
    while try receive() == .output {
      // The encoder sets no duration; without it the last frame would have none.
      packet.duration = 1
      if let time = packet.dts { packet.setDecodingTime(decodingTimes.next(time)) }
      try container.write(packet, to: stream, timeBase: encoder.timeBase)
    }
  }

  private func receive() throws(RunFailure) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw RunFailure(error) }
  }
}
