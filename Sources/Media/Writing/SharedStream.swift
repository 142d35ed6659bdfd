import AV

/// One stream of packets in several files.
final class SharedStream {
  private let parts: [(container: ContainerWriter, stream: Int)]
  private let packet: Packet

  /// - Parameter parts: the files, each with the index of the stream in it.
  init(_ parts: [(container: ContainerWriter, stream: Int)]) throws(RunFailure) {
    self.parts = parts
    packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
  }

  /// Writes a packet to each of the files.
  func write(_ packet: borrowing Packet, timeBase: Rational) throws(RunFailure) {
    for (container, stream) in parts {
      do { try self.packet.reference(packet) } catch { throw RunFailure(error) }
      try container.write(self.packet, to: stream, timeBase: timeBase)
    }
  }
}

extension [ContainerWriter] {
  /// Adds a stream for the packets of an encoder to each of the containers, which are not started yet.
  func addStream(of encoder: borrowing AudioEncoder) throws(RunFailure) -> SharedStream {
    var parts: [(container: ContainerWriter, stream: Int)] = []
    for container in self {
      do { parts.append((container, try container.muxer.addStream(of: encoder))) } catch { throw RunFailure(error) }
    }
    return try SharedStream(parts)
  }

  /// Adds a stream for copied packets to each of the containers, which are not started yet.
  func addStream(copying source: Int, of demuxer: borrowing Demuxer) throws(RunFailure) -> SharedStream {
    var parts: [(container: ContainerWriter, stream: Int)] = []
    for container in self {
      do { parts.append((container, try container.muxer.addStream(copying: source, of: demuxer))) } catch {
        throw RunFailure(error)
      }
    }
    return try SharedStream(parts)
  }
}
