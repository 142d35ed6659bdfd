import AV
import Kernels
import Model
import Platform

/// Encodes frames as the animated preview, a WebP.
final class PreviewWriter {
  static let encoderName = "libwebp_anim"

  let plan: PreviewPlan
  private let file: OpenFile
  private let converter: UprightConverter
  private let upright: ImageBuffer
  private let scaler: Scaler
  private let encoder: VideoEncoder
  private let frame: Frame
  private let packet: Packet
  private var frames = 0
  private var bytes: Int64 = 0

  // 0 to 6. A higher level takes twice the time for a few per cent of the size.
  private static let compressionLevel = "2"

  /// - Parameter layout: of the frames that are written.
  init(_ plan: PreviewPlan, layout: FrameLayout, file: OpenFile) throws(RunFailure) {
    self.plan = plan
    self.file = file
    let size = plan.size
    converter = try UprightConverter(from: layout, to: size)
    upright = ImageBuffer(width: size.width, height: size.height)
    func side(_ matrix: ColorMatrix, _ chroma: ChromaPosition) -> Scaler.Side {
      Scaler.Side(
        width: size.width, height: size.height, format: .yuv420p, matrix: matrix, isFullRange: false, chroma: chroma)
    }
    // WebP has no colour tags: its YUV is BT.601 (RFC 9649, 2.5), and decoders take its colour samples to be in the middle of four.
    let source = side(.bt709, converter.chroma)
    scaler = try RunFailure.wrap { () throws(AVError) in try Scaler(from: source, to: side(.bt601, .centre)) }
    let settings = VideoEncoderSettings(
      encoder: Self.encoderName, options: ["quality": "\(plan.quality)", "compression_level": Self.compressionLevel],
      width: size.width, height: size.height, timeBase: Rational(1, Int32(plan.framesPerSecond)),
      frameRate: Rational(Int32(plan.framesPerSecond), 1))
    encoder = try RunFailure.wrap { () throws(AVError) in try VideoEncoder(settings) }
    frame = try RunFailure.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
  }

  /// The time of the next frame, in seconds from the start; nil after the last one.
  var nextTime: Double? {
    frames < plan.frames ? plan.at + Double(frames) / Double(plan.framesPerSecond) : nil
  }

  /// Writes the next frame.
  func write(_ source: borrowing Frame) throws(RunFailure) {
    try converter.draw(source, into: upright.imagePlanes)
    do {
      try frame.makeWritable()
      try scaler.scale(upright.imagePlanes.planes, to: frame.planes(from: (0, 0)))
      frame.pts = Int64(frames)
      try encoder.send(frame)
    } catch {
      throw RunFailure(error)
    }
    frames += 1
    try writePackets()
  }

  /// Completes the file; a clip that ends early gives a shorter preview.
  func finish() throws(RunFailure) -> OutputFacts {
    do { try encoder.finish() } catch { throw RunFailure(error) }
    try writePackets()
    return OutputFacts(
      role: plan.role, type: "image/webp", bytes: bytes, width: plan.size.width, height: plan.size.height,
      duration: Double(frames) / Double(plan.framesPerSecond))
  }

  /// Writes the encoder's packets: libwebp_anim outputs the entire file as one packet, at the end.
  private func writePackets() throws(RunFailure) {
    while try receive() == .output {
      do { try packet.withBytes { (data) throws(SystemError) in try file.descriptor.write(data, at: bytes) } } catch {
        throw RunFailure(error)
      }
      bytes += Int64(packet.size)
    }
  }

  private func receive() throws(RunFailure) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw RunFailure(error) }
  }
}

/// Takes the frames of a preview from an input.
final class PreviewTap: FrameTap {
  let writer: PreviewWriter

  init(_ writer: PreviewWriter) { self.writer = writer }

  var isFinished: Bool { writer.nextTime == nil }

  func take(_ frame: borrowing Frame, until end: Double?) throws(RunFailure) {
    guard let end else { return try writer.write(frame) }
    while let time = writer.nextTime, time < end { try writer.write(frame) }
  }
}
