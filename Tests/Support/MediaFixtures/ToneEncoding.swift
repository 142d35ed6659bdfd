import AV
import Glibc

/// Encodes a sine as AAC.
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
    encoder = try AudioEncoder(sampleRate: tone.sampleRate, channels: tone.channels, bitRate: 96_000)
    frame = try Frame(sampleCapacity: encoder.frameSize, sampleRate: tone.sampleRate, channels: tone.channels)
    packet = try Packet()
    stream = try muxer.addStream(of: encoder)
    total = Int(((seconds - tone.delay) * Double(tone.sampleRate)).rounded())
  }

  /// Encodes whole frames up to a time.
  func encode(until seconds: Double, into muxer: borrowing Muxer) throws {
    let wanted = min(total, Int(((seconds - tone.delay) * Double(tone.sampleRate)).rounded()))
    while written < wanted {
      try frame.makeWritable()
      let count = min(encoder.frameSize, total - written)
      for channel in 0..<tone.channels {
        guard let samples = frame.samples(ofChannel: channel) else { continue }
        for index in 0..<count {
          let phase = 2 * Double.pi * tone.frequency * Double(written + index) / Double(tone.sampleRate)
          samples[index] = Float(0.4 * sin(phase))
        }
      }
      frame.setSampleCount(count)
      frame.pts = Int64(written) + Int64((tone.delay * Double(tone.sampleRate)).rounded())
      try encoder.send(frame)
      frame.setSampleCount(encoder.frameSize)
      written += count
      try write(into: muxer)
    }
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
