import AV
import ISOBaseMedia
import Model

/// Copies the coded frames of an input into a new container: only the slices, the parameter sets and the display
/// matrix.
///
/// Other NAL units are left out, as they can hold identifying metadata. `CopyCheck` has checked that the rest can be
/// copied.
final class CopiedVideo: PacketTap {
  private let input: InputSource
  private let container: ContainerWriter
  private let source: Int
  private let stream: Int
  private let timeBase: Rational
  private let origin: Int64
  private let configuration: AVCConfiguration
  private let packet: Packet
  private let lastDuration: Int64
  /// The number of packets that are still to be copied.
  private var rest: Int

  /// Adds a stream to a container that is not started yet.
  init(of reader: ClipReader, scan: PacketScan, part: CopiedPart, container: ContainerWriter) throws(RunFailure) {
    input = reader.source
    rest = part.packets ?? .max
    source = reader.plan.facts.video.stream
    timeBase = reader.timeBase
    origin = scan.origin
    lastDuration = max(1, scan.lastDuration)
    self.container = container
    guard let configuration = AVCConfiguration(reader.demuxer.streams[source].configuration) else {
      throw input.refusal(.corruptVideo, "its video configuration cannot be read")
    }
    self.configuration = configuration
    do {
      stream = try container.muxer.addStream(
        copying: source, of: reader.demuxer, configuration: configuration.bytesForLengthSize4)
    } catch {
      throw RunFailure(error)
    }
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
  }

  var isFinished: Bool { rest == 0 }

  func take(_ packet: borrowing Packet) throws(RunFailure) {
    // Frames that an edit list hides after the last shown frame are left out.
    guard packet.stream == source, !packet.isDiscarded, rest > 0 else { return }
    rest -= 1
    let sample = AVCSample(packet, configuration)
    guard sample.isComplete, sample.frameBytes > 0 else {
      throw input.refusal(.corruptVideo, "a packet is not a sequence of NAL units")
    }
    if sample.hasOtherUnits || configuration.lengthBytes != 4 {
      try write(slicesOf: packet, count: sample.frameBytes)
    } else {
      do { try self.packet.reference(packet) } catch { throw RunFailure(error) }
    }
    // Decoding can start at a sync sample without earlier samples (ISO/IEC 14496-15, 5.3.6).
    self.packet.isKey = sample.isRefresh
    // FFmpeg's demuxer sets no duration for the last sample of a track that starts late.
    if self.packet.duration <= 0 { self.packet.duration = lastDuration }
    self.packet.shift(by: -origin)
    try container.write(self.packet, to: stream, timeBase: timeBase)
  }

  private func write(slicesOf packet: borrowing Packet, count: Int) throws(RunFailure) {
    do throws(AVError) {
      try self.packet.rewrite(packet, count: count) { target in
        var offset = 0
        packet.withBytes { bytes in
          _ = NALUnit.forEach(of: bytes, lengthBytes: configuration.lengthBytes) { unit in
            guard unit.kind.isPrimarySlice else { return }
            target.storeBytes(of: UInt32(unit.bytes.count).bigEndian, toByteOffset: offset, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: target[(offset + 4)...]).copyMemory(from: unit.bytes)
            offset += 4 + unit.bytes.count
          }
        }
      }
    } catch {
      throw RunFailure(error)
    }
  }
}
