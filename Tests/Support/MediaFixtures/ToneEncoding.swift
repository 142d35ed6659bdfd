import AV
import Glibc

/// Computes and encodes the audio of a clip.
final class ToneEncoding {
  private let tone: MarkedClip.Tone
  private let encoder: AudioEncoder
  private let frame: Frame
  private let packet: Packet
  private let stream: Int
  private let total: Int
  private var written = 0

  init(_ tone: MarkedClip.Tone, seconds: Double, muxer: borrowing Muxer) throws {
    self.tone = tone
    encoder = try AudioEncoder(
      encoder: tone.encoder, sampleRate: tone.sampleRate, channels: tone.channels, bitRate: tone.bitRate)
    frame = try Frame(sampleCapacity: encoder.frameSize, sampleRate: tone.sampleRate, channels: tone.channels)
    packet = try Packet()
    stream = try muxer.addStream(of: encoder)
    total = Int(((seconds - tone.delay) * Double(tone.sampleRate)).rounded())
  }

  /// Encodes full frames up to a time.
  func encode(until seconds: Double, into muxer: borrowing Muxer) throws {
    let wanted = min(total, Int(((seconds - tone.delay) * Double(tone.sampleRate)).rounded()))
    while written < wanted {
      try frame.makeWritable()
      let count = min(encoder.frameSize, total - written)
      for channel in 0..<tone.channels {
        guard let samples = frame.samples(ofChannel: channel) else { continue }
        let level = tone.isOpposite && channel == 1 ? -tone.level : tone.level
        for index in 0..<count { samples[index] = Float(level * value(at: written + index)) }
      }
      frame.setSampleCount(count)
      frame.pts = Int64(written) + Int64((tone.delay * Double(tone.sampleRate)).rounded())
      try encoder.send(frame)
      frame.setSampleCount(encoder.frameSize)
      written += count
      try write(into: muxer)
    }
  }

  /// Returns the sample at an index, -1 to 1.
  private func value(at index: Int) -> Double {
    guard let room = tone.room else {
      let sine = sin(2 * Double.pi * tone.frequency * Double(index) / Double(tone.sampleRate))
      return tone.isSquare ? (sine < 0 ? -1 : 1) : sine
    }
    // The noise is a function of the absolute time, so that all clips of a room have the same audio.
    let time = Int((room.start * Double(tone.sampleRate)).rounded()) + index
    let isLoud = Self.noise(UInt64(time / (tone.sampleRate / 8)), room.seed) > 0.2
    // Runs of 16 equal samples have enough energy below the cutoff frequency of every low-pass filter.
    return (isLoud ? 1 : 0.05) * Self.noise(UInt64(time / 16), room.seed &+ 1)
  }

  /// Returns uniform noise between -1 and 1, a function of index and seed (Steele, Lea and Flood, 2014).
  private static func noise(_ index: UInt64, _ seed: UInt64) -> Double {
    var value = (index &+ seed &* 0x1_0000_0001) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((value ^ (value >> 31)) >> 11) / Double(1 << 52) - 1
  }

  func finish(into muxer: borrowing Muxer) throws {
    try encoder.finish()
    try write(into: muxer)
  }

  private func write(into muxer: borrowing Muxer) throws {
    while try encoder.receive(into: packet) == .output {
      try muxer.write(packet, to: stream, timeBase: encoder.timeBase)
    }
  }
}
