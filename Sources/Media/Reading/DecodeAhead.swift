import AV
import Kernels
import Model
import Platform

/// Decodes an input on a thread of its own, some frames ahead of its consumer.
///
/// The thread also converts each frame into the form that the composition needs, as the encoding thread is the
/// bottleneck.
final class DecodeAhead: FrameSource {
  let demuxer: Demuxer
  /// The last frame that `next` returned, in the prepared form; nil if frames are not prepared.
  private var prepared: Frame?
  private let items: Channel<Item>
  /// Prepared frames whose memory can be reused.
  private let reusable: Channel<Frame>
  private var thread: NamedThread?
  private(set) var misplaced = 0

  /// An item that the decoding thread sends, in order.
  private enum Item: ~Copyable, Sendable {
    case packet(Packet)
    case frame(Frame, ticks: Int64, prepared: Frame?)
    case failed(RunFailure)
    /// The frames end; of a clip that is cut, packets may follow.
    case ended(misplaced: Int)
  }

  // Frames and packets: an interleaved file has one or two audio packets for each frame. Each frame has megabytes, which the kernel clears.
  private static let itemsAhead = 8

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - preparation: the form into which the thread converts each frame; nil for none.
  ///   - sendsPackets: whether the consumer receives the packets as well.
  init(
    _ source: InputSource, plan: InputPlan, expected: PacketScan?, preparation: Preparation?, sendsPackets: Bool
  ) throws(RunFailure) {
    demuxer = try source.open(selecting: plan)
    let items = Channel<Item>(capacity: Self.itemsAhead)
    let reusable = Channel<Frame>(capacity: Self.itemsAhead + 4)
    self.items = items
    self.reusable = reusable
    do {
      thread = try NamedThread(name: "decode \(source.name.rawValue)") {
        // The encoding thread is the bottleneck: this thread must not take processor time from it.
        NamedThread.lowerPriority()
        do throws(RunFailure) {
          let decoder = try FrameDecoder(source, plan: plan, expected: expected).deinterlaced()
          try Self.run(decoder, preparation, sendsPackets: sendsPackets, into: items, reusing: reusable)
          if sendsPackets, expected?.end != nil { try Self.passRest(of: decoder, into: items) }
          _ = items.put(.ended(misplaced: decoder.misplaced))
        } catch {
          _ = items.put(.failed(error))
        }
      }
    } catch {
      throw RunFailure(error)
    }
  }

  deinit {
    items.close()
    reusable.close()
    thread.take()?.join()
  }

  func next(
    into frame: borrowing Frame, packets: (borrowing Packet) throws(RunFailure) -> Void
  ) throws(RunFailure) -> Int64? {
    if let unused = prepared.take() { _ = reusable.put(unused) }
    while let item = items.take() {
      switch consume item {
      case .packet(let packet): try packets(packet)
      case .frame(let decoded, let ticks, let prepared):
        frame.take(decoded)
        self.prepared = consume prepared
        return ticks
      case .failed(let failure): throw failure
      case .ended(let misplaced):
        self.misplaced = misplaced
        return nil
      }
    }
    return nil
  }

  // A first look decodes on demand.
  func skip(to refresh: Int64, packets: (borrowing Packet) throws(RunFailure) -> Void) throws(RunFailure) {}

  func passRest(
    _ packets: (borrowing Packet) throws(RunFailure) -> Void, until isFinished: () -> Bool
  ) throws(RunFailure) {
    while !isFinished(), let item = items.take() {
      switch consume item {
      case .packet(let packet): try packets(packet)
      case .failed(let failure): throw failure
      case .frame: continue
      case .ended: return
      }
    }
  }

  func takePrepared() -> Frame? { prepared.take() }

  func reuse(_ frame: consuming Frame) { _ = reusable.put(frame) }

  /// Decodes on the thread until the input ends or the consumer is gone.
  private static func run(
    _ decoder: any FrameSource, _ preparation: Preparation?, sendsPackets: Bool, into items: Channel<Item>,
    reusing reusable: Channel<Frame>
  ) throws(RunFailure) {
    let converter = try preparation.map { (preparation) throws(RunFailure) in
      try UprightConverter(from: preparation.layout, to: preparation.size)
    }
    while true {
      let frame = try RunFailure.wrap { () throws(AVError) in try Frame() }
      let ticks = try decoder.next(into: frame) { (packet) throws(RunFailure) in
        if sendsPackets { _ = try send(packet, into: items) }
      }
      guard let ticks else { break }
      var prepared: Frame?
      if let converter {
        let target = try Self.reused(reusable.takeIfReady(), size: converter.size)
        try converter.draw(frame, into: target.imagePlanes)
        prepared = consume target
      }
      guard items.put(.frame(frame, ticks: ticks, prepared: prepared)) else { return }
    }
    _ = items.put(.ended(misplaced: decoder.misplaced))
  }

  /// Sends the packets behind the last frame until the consumer is gone.
  private static func passRest(of decoder: any FrameSource, into items: Channel<Item>) throws(RunFailure) {
    var isTaken = true
    try decoder.passRest(
      { (packet) throws(RunFailure) in isTaken = try send(packet, into: items) }, until: { !isTaken })
  }

  /// Sends a reference to a packet; returns false if the consumer is gone.
  private static func send(_ packet: borrowing Packet, into items: Channel<Item>) throws(RunFailure) -> Bool {
    do throws(AVError) {
      let copy = try Packet()
      try copy.reference(packet)
      return items.put(.packet(copy))
    } catch {
      throw RunFailure(error)
    }
  }

  private static func reused(_ frame: consuming Frame?, size: Size) throws(RunFailure) -> Frame {
    if let frame { return frame }
    return try RunFailure.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
  }
}
