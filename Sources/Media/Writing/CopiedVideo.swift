import AV
import Model

/// An input's pictures as they came, in a clean container: nothing but the coded pictures and the display matrix.
///
/// What lies between the coded pictures is left out: makers write there what they like.
final class CopiedVideo: PacketTap {
  private let input: InputSource
  private let output: OutputFile
  private let source: Int
  private let stream: Int
  private let timeBase: Rational
  private let origin: Int64
  /// The time of the last picture that is shown; what an edit list hides behind it is left out.
  private let last: Int64
  private let packet: Packet
  private let filter: BitstreamFilter
  // Supplemental enhancement information (ITU-T H.264, table 7-1).
  private static let messages = 6
  private var lastDecodingTime = Int64.min

  /// Adds a stream to an output that is not started yet.
  init(of reader: ClipReader, scan: PacketScan, output: OutputFile) throws(Stop) {
    input = reader.source
    source = reader.plan.facts.video.stream
    timeBase = reader.timeBase
    origin = scan.origin
    last = scan.times.last ?? 0
    self.output = output
    do { stream = try output.muxer.addStream(copying: source, of: reader.demuxer) } catch { throw Stop(error) }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
    do { filter = try BitstreamFilter(removingUnits: [Self.messages], from: source, of: reader.demuxer) } catch {
      throw input.blame(error, .corruptVideo, "its video's parameters cannot be read")
    }
  }

  func take(_ packet: borrowing Packet) throws(Stop) {
    guard packet.stream == source else { return }
    // What is hidden before the first picture gets a time before zero, which the new edit list hides again.
    if packet.isDiscarded, let pts = packet.pts, pts > last { return }
    // Several edits may tell of one time twice; no player could be told so.
    if let dts = packet.dts {
      guard dts > lastDecodingTime else {
        throw input.refusal(
          .corruptVideo, "its packets' times do not grow", seconds: timeBase.seconds(dts - origin))
      }
      lastDecodingTime = dts
    }
    do { try self.packet.reference(packet) } catch { throw Stop(error) }
    do {
      try filter.send(self.packet)
      guard try filter.receive(into: self.packet) == .output else { return }
    } catch {
      throw input.blame(error, .corruptVideo, "a packet cannot be read", at: nil)
    }
    self.packet.shift(by: -origin)
    try output.write(self.packet, to: stream, timeBase: timeBase)
  }
}
