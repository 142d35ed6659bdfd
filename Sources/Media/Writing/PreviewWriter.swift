import AV
import Kernels
import Model
import Platform

/// Makes the moving preview, an animated WebP, of pictures as they come.
final class PreviewWriter {
  let plan: PreviewPlan
  private let file: OpenFile
  private let converter: UprightConverter
  private let upright: ImageBuffer
  private let scaler: Scaler
  private let encoder: VideoEncoder
  private let frame: Frame
  private let packet: Packet
  private var pictures = 0
  private var bytes: Int64 = 0

  // libwebp's effort, 0 to 6: beyond this one it takes twice the time for a few per cent.
  private static let effort = "2"

  /// - Parameter layout: of the pictures it is given.
  init(_ plan: PreviewPlan, layout: FrameLayout, file: OpenFile) throws(Stop) {
    self.plan = plan
    self.file = file
    let size = plan.size
    converter = try UprightConverter(from: layout, to: size)
    upright = ImageBuffer(width: size.width, height: size.height)
    func side(_ matrix: ColorMatrix) -> Scaler.Side {
      Scaler.Side(width: size.width, height: size.height, format: .yuv420p, matrix: matrix, isFullRange: false)
    }
    // WebP has no colour tags: its numbers are those of BT.601 (RFC 9649, 2.5).
    scaler = try Stop.wrap { () throws(AVError) in try Scaler(from: side(.bt709), to: side(.bt601)) }
    let settings = VideoEncoderSettings(
      encoder: "libwebp_anim", options: ["quality": "\(plan.quality)", "compression_level": Self.effort],
      width: size.width, height: size.height, timeBase: Rational(1, Int32(plan.framesPerSecond)),
      frameRate: Rational(Int32(plan.framesPerSecond), 1))
    encoder = try Stop.wrap { () throws(AVError) in try VideoEncoder(settings) }
    frame = try Stop.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
  }

  /// When the next picture is taken, in seconds from the start; nil once it has them all.
  var nextTime: Double? {
    pictures < plan.pictures ? plan.at + Double(pictures) / Double(plan.framesPerSecond) : nil
  }

  /// Takes the next picture.
  func write(_ picture: borrowing Frame) throws(Stop) {
    try converter.draw(picture, into: upright.picture)
    do {
      try frame.makeWritable()
      try scaler.scale(upright.picture.planes, to: frame.planes(of: (0, 0)))
      frame.pts = Int64(pictures)
      try encoder.send(frame)
    } catch {
      throw Stop(error)
    }
    pictures += 1
    try writePackets()
  }

  /// Completes the file; a clip that ends early makes a shorter preview.
  func finish() throws(Stop) -> OutputFacts {
    do { try encoder.finish() } catch { throw Stop(error) }
    try writePackets()
    return OutputFacts(
      role: plan.role, type: "image/webp", bytes: bytes, width: plan.size.width, height: plan.size.height,
      duration: Double(pictures) / Double(plan.framesPerSecond))
  }

  /// The encoder holds everything back: its one packet is the whole file.
  private func writePackets() throws(Stop) {
    while try receive() == .output {
      do { try packet.withBytes { (data) throws(SystemError) in try file.descriptor.write(data, at: bytes) } } catch {
        throw Stop(error)
      }
      bytes += Int64(packet.size)
    }
  }

  private func receive() throws(Stop) -> Received {
    do { return try encoder.receive(into: packet) } catch { throw Stop(error) }
  }
}
