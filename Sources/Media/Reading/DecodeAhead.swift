import AV
import Kernels
import Model
import Platform

/// Decodes an input on a thread of its own, a few pictures ahead of whoever wants them.
///
/// The thread also brings each picture into the form in which the composition wants it, which is most of what is left
/// to do to a picture: the thread that encodes is the one that everybody waits for.
final class DecodeAhead: FrameSource {
  let demuxer: Demuxer
  /// What the thread makes of each picture, beside decoding it.
  let preparation: Preparation?
  /// The picture of the last answer, prepared; nil if nothing is prepared.
  private(set) var prepared: Frame?
  private let items: Channel<Item>
  /// Prepared pictures that may be drawn anew.
  private let used: Channel<Frame>
  private var thread: NamedThread?

  /// What goes from thread to thread, in order.
  private enum Item: ~Copyable, Sendable {
    case packet(Packet)
    case picture(Frame, ticks: Int64, prepared: Frame?)
    case stopped(Stop)
    case ended
  }

  // Pictures and packets that wait together: an interleaved file has one or two packets of sound for each picture.
  private static let itemsAhead = 16

  /// Starts the thread.
  ///
  /// - Parameter sendsPackets: whether somebody wants the packets too.
  init(
    _ source: InputSource, plan: InputPlan, expected: PacketScan?, preparation: Preparation?, sendsPackets: Bool
  ) throws(Stop) {
    demuxer = try source.open(selecting: plan)
    self.preparation = preparation
    let items = Channel<Item>(capacity: Self.itemsAhead)
    let used = Channel<Frame>(capacity: Self.itemsAhead + 4)
    self.items = items
    self.used = used
    do {
      thread = try NamedThread(name: "decode \(source.name.rawValue)") {
        // The thread that encodes has the most to do: what is ahead of it gives way.
        NamedThread.lowerPriority()
        do throws(Stop) {
          let decoder = try FrameDecoder(source, plan: plan, expected: expected).deinterlaced()
          try Self.run(decoder, preparation, sendsPackets: sendsPackets, into: items, reusing: used)
        } catch {
          _ = items.put(.stopped(error))
        }
      }
    } catch {
      throw Stop(error)
    }
  }

  deinit {
    items.close()
    used.close()
    thread.take()?.join()
  }

  func next(
    into picture: borrowing Frame, packets: (borrowing Packet) throws(Stop) -> Void
  ) throws(Stop) -> Int64? {
    if let frame = prepared.take() { _ = used.put(frame) }
    while let item = items.take() {
      switch consume item {
      case .packet(let packet): try packets(packet)
      case .picture(let frame, let ticks, let prepared):
        picture.take(frame)
        self.prepared = consume prepared
        return ticks
      case .stopped(let stop): throw stop
      case .ended: return nil
      }
    }
    return nil
  }

  /// Takes the prepared picture of the last answer; whoever takes it gives it back with `reuse`.
  func takePrepared() -> Frame? { prepared.take() }

  /// Gives a prepared picture back, to be drawn anew.
  func reuse(_ frame: consuming Frame) { _ = used.put(frame) }

  /// What the thread does until the input ends, or nobody wants it any longer.
  private static func run(
    _ decoder: any FrameSource, _ preparation: Preparation?, sendsPackets: Bool, into items: Channel<Item>,
    reusing used: Channel<Frame>
  ) throws(Stop) {
    let converter = try preparation.map { (preparation) throws(Stop) in
      try UprightConverter(from: preparation.layout, to: preparation.size)
    }
    while true {
      let picture = try Stop.wrap { () throws(AVError) in try Frame() }
      let ticks = try decoder.next(into: picture) { (packet) throws(Stop) in
        guard sendsPackets else { return }
        do throws(AVError) {
          let copy = try Packet()
          try copy.reference(packet)
          _ = items.put(.packet(copy))
        } catch {
          throw Stop(error)
        }
      }
      guard let ticks else { break }
      var prepared: Frame?
      if let converter {
        let frame = try Self.reused(used.takeIfReady(), size: converter.size)
        try converter.draw(picture, into: frame.picture)
        prepared = consume frame
      }
      guard items.put(.picture(picture, ticks: ticks, prepared: prepared)) else { return }
    }
    _ = items.put(.ended)
  }

  private static func reused(_ frame: consuming Frame?, size: Size) throws(Stop) -> Frame {
    if let frame { return frame }
    return try Stop.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
  }
}
