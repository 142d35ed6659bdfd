import AV
import ISOBaseMedia
import Model

/// An input's frames as they came, in a clean container: nothing but the coded slices, the parameter sets and the display
/// matrix.
///
/// What lies between the slices is left out: makers write there what they like. `CopyCheck` has seen that the rest can be
/// copied.
final class CopiedVideo: PacketTap {
  private let input: InputSource
  private let output: OutputFile
  private let source: Int
  private let stream: Int
  private let timeBase: Rational
  private let origin: Int64
  private let configuration: AVCConfiguration
  private let packet: Packet
  private let lastDuration: Int64

  /// Adds a stream to an output that is not started yet.
  init(of reader: ClipReader, scan: PacketScan, output: OutputFile) throws(Stop) {
    input = reader.source
    source = reader.plan.facts.video.stream
    timeBase = reader.timeBase
    origin = scan.origin
    lastDuration = max(1, scan.lastDuration)
    self.output = output
    guard let configuration = AVCConfiguration(reader.demuxer.streams[source].configuration) else {
      throw input.refusal(.corruptVideo, "its video's parameters cannot be read")
    }
    self.configuration = configuration
    do {
      stream = try output.muxer.addStream(
        copying: source, of: reader.demuxer, configuration: configuration.bytesForLengthsOf4)
    } catch {
      throw Stop(error)
    }
    packet = try Stop.wrap { () throws(AVError) in try Packet() }
  }

  func take(_ packet: borrowing Packet) throws(Stop) {
    // What an edit list hides behind the last frame is left out.
    guard packet.stream == source, !packet.isDiscarded else { return }
    let sample = AVCSample(packet, configuration)
    guard sample.isWhole, sample.frameBytes > 0 else {
      throw input.refusal(.corruptVideo, "a packet does not consist of NAL units")
    }
    if sample.hasMore || configuration.lengthBytes != 4 {
      try write(slicesOf: packet, count: sample.frameBytes)
    } else {
      do { try self.packet.reference(packet) } catch { throw Stop(error) }
    }
    // A sync sample is one at which decoding can begin with nothing before it (ISO/IEC 14496-15, 5.3.6).
    self.packet.isKey = sample.isRefresh
    // libav leaves it open for the last sample of a track that begins late.
    if self.packet.duration <= 0 { self.packet.duration = lastDuration }
    self.packet.shift(by: -origin)
    try output.write(self.packet, to: stream, timeBase: timeBase)
  }

  private func write(slicesOf packet: borrowing Packet, count: Int) throws(Stop) {
    do throws(AVError) {
      try self.packet.rewrite(packet, count: count) { target in
        var offset = 0
        packet.withBytes { bytes in
          _ = AVCUnit.forEach(of: bytes, lengthBytes: configuration.lengthBytes) { unit in
            guard unit.kind.isFrame else { return }
            target.storeBytes(of: UInt32(unit.bytes.count).bigEndian, toByteOffset: offset, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: target[(offset + 4)...]).copyMemory(from: unit.bytes)
            offset += 4 + unit.bytes.count
          }
        }
      }
    } catch {
      throw Stop(error)
    }
  }
}
