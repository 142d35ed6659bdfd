import AV
import Model
import Platform

/// Encodes the video stream of an output on a thread of its own; the owner writes the packets, in the same order as without
/// the thread.
final class EncodeAhead: RenditionEncoding {
  private let container: ContainerWriter
  private let stream: Int
  private let timeBase: Rational
  private let size: Size
  private let frames = Channel<Item>(capacity: 8)
  // An encoder returns at most one packet for a frame until it is drained: the thread never waits for space in here while
  // the owner waits for space in `frames`.
  private let packets = Channel<Coded>(capacity: 16)
  /// Frames whose memory can be reused.
  private let reusable = Channel<Frame>(capacity: 16)
  private var thread: NamedThread?
  /// The number of frames.
  private var count: Int64 = 0

  private enum Item: ~Copyable, Sendable {
    case frame(Frame)
    case end
  }

  private enum Coded: ~Copyable, Sendable {
    case packet(Packet)
    case failed(RunFailure)
    case ended
  }

  /// Adds a stream to a container that is not started yet, and starts the thread.
  init(_ video: Definition.VideoEncoding, size: Size, grid: TimeGrid, container: ContainerWriter) throws(RunFailure) {
    let encoder = try VideoTrack.encoder(video, size: size, grid: grid)
    self.container = container
    self.size = size
    timeBase = encoder.timeBase
    do { stream = try container.muxer.addStream(of: encoder) } catch { throw RunFailure(error) }
    let moved = NoncopyableBox(encoder)
    do {
      thread = try NamedThread(name: "encode small") { [frames, packets, reusable] in
        NamedThread.lowerPriority()
        guard let encoder = moved.take() else { return }
        do throws(RunFailure) {
          try Self.run(encoder, frames: frames, packets: packets, reusable: reusable)
        } catch {
          _ = packets.put(.failed(error))
          frames.close()
        }
      }
    } catch {
      throw RunFailure(error)
    }
  }

  deinit {
    frames.close()
    packets.close()
    reusable.close()
    thread.take()?.join()
  }

  /// Memory for a frame.
  func memory() throws(RunFailure) -> Frame {
    if let frame = reusable.takeIfReady() { return frame }
    return try RunFailure.wrap { [size] () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
  }

  /// Hands over the next frame.
  func encode(_ frame: consuming Frame) throws(RunFailure) {
    while let coded = packets.takeIfReady() { _ = try write(coded) }
    frame.pts = count
    count += 1
    _ = frames.put(.frame(frame))
  }

  /// Writes the rest of the packets.
  func finish() throws(RunFailure) {
    _ = frames.put(.end)
    while let coded = packets.take(), try write(coded) {}
  }

  /// Returns false after the last packet.
  private func write(_ coded: consuming Coded) throws(RunFailure) -> Bool {
    switch consume coded {
    case .packet(let packet):
      packet.duration = 1
      try container.write(packet, to: stream, timeBase: timeBase)
      return true
    case .failed(let failure): throw failure
    case .ended: return false
    }
  }

  private static func run(
    _ encoder: borrowing VideoEncoder, frames: Channel<Item>, packets: Channel<Coded>, reusable: Channel<Frame>
  ) throws(RunFailure) {
    do throws(AVError) {
      while let item = frames.take() {
        switch consume item {
        case .frame(let frame):
          try encoder.send(frame)
          try receive(from: encoder, into: packets)
          _ = reusable.put(frame)
        case .end:
          try encoder.finish()
          try receive(from: encoder, into: packets)
          _ = packets.put(.ended)
          return
        }
      }
    } catch {
      throw RunFailure(error)
    }
  }

  private static func receive(from encoder: borrowing VideoEncoder, into packets: Channel<Coded>) throws(AVError) {
    while true {
      let packet = try Packet()
      guard try encoder.receive(into: packet) == .output else { return }
      _ = packets.put(.packet(packet))
    }
  }
}
