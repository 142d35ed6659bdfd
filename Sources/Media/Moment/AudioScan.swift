import AV
import Glibc
import Model
import Platform

/// An input's sound, decoded once before its pictures are: how loud it is, where it is damaged, and the detail by which
/// it is compared with another.
struct AudioScan: Sendable {
  /// Samples a second of `detail`: half a millisecond is exact enough for pictures.
  static let rate = 2000

  /// The changes of the sound up to 800 Hz from the file's time zero, as loud as their mean allows.
  let detail: [Int16]
  /// The loudest sample, 1 for full scale.
  let peak: Float
  /// Where the first packet lies that cannot be decoded, in seconds; nil if there is none.
  let damage: Double?

  // Loudness is told by what lies below 4 kHz, which is nearly all of any sound.
  private static let decodedRate = 8000
  private static let step = decodedRate / rate

  /// What is to be decoded.
  struct Request: Sendable {
    let source: InputSource
    let stream: Int
    /// The file's time zero in seconds.
    let origin: Double
    /// In seconds; what lies behind it is not decoded.
    let longest: Double
  }

  /// Decodes several sounds, in the latency mode beside each other.
  static func all(_ requests: [Request], mode: ExecutionMode) throws(Stop) -> [AudioScan] {
    var scans: [AudioScan] = []
    guard mode == .latency, requests.count == 2 else {
      for request in requests { scans.append(try AudioScan(request)) }
      return scans
    }
    let second = Channel<Result<AudioScan, Stop>>(capacity: 1)
    do {
      try NamedThread(name: "listen") {
        _ = second.put(Result { () throws(Stop) in try AudioScan(requests[1]) })
      }.detach()
    } catch {
      throw Stop(error)
    }
    let first = Result { () throws(Stop) in try AudioScan(requests[0]) }
    guard let other = second.take() else { return scans }
    scans.append(try first.get())
    scans.append(try other.get())
    return scans
  }

  /// Decodes a sound stream.
  init(_ request: Request) throws(Stop) {
    let reader = try AudioReader(
      request.source, stream: request.stream, rate: Self.decodedRate, origin: request.origin, longest: request.longest)
    try reader.run()
    damage = reader.damage
    peak = reader.samples.reduce(0) { max($0, $1.magnitude) }
    detail = Self.detail(of: reader.samples)
  }

  /// Down to `rate` through a low pass, then the differences, which weigh all of the spectrum alike, then 12 bits.
  private static func detail(of samples: [Float]) -> [Int16] {
    let taps = lowPass
    let half = taps.count / 2
    guard samples.count > taps.count else { return [] }
    let low = stride(from: half, to: samples.count - half, by: step).map { middle in
      taps.indices.reduce(Float(0)) { $0 + taps[$1] * samples[middle - half + $1] }
    }
    let changes = zip(low.dropFirst(), low).map { $0 - $1 }
    let power = changes.reduce(Float(0)) { $0 + $1 * $1 } / Float(max(1, changes.count))
    guard power > 0 else { return [Int16](repeating: 0, count: changes.count) }
    let scale = 256 / power.squareRoot()
    return changes.map { Int16(min(max($0 * scale, -2047), 2047)) }
  }

  /// A windowed sinc with its edge at a tenth of the rate that it is applied at.
  private static let lowPass: [Float] = {
    let half = 16
    let taps = (-half...half).map { index -> Double in
      let place = Double(index)
      let sinc = index == 0 ? 0.2 : sin(0.2 * .pi * place) / (.pi * place)
      let window = 0.5 + 0.5 * sin(.pi / 2 + .pi * place / Double(half + 1))
      return sinc * window
    }
    let sum = taps.reduce(0, +)
    return taps.map { Float($0 / sum) }
  }()
}

extension AudioScan {
  // -60 dB of full scale: below lies the noise of a microphone that is covered or off.
  private static let silence: Float = 0.001

  /// What is odd about it.
  func warnings(of input: InputName) -> [Warning] {
    var warnings: [Warning] = []
    if let damage {
      warnings.append(
        Warning(
          .damagedSound, input: input,
          detail: "Its sound cannot be decoded at \(DurationRule.text(damage)) s and is silent there. "
            + "Send the clip again; if it is damaged on the phone too, film again.",
          seconds: damage))
    }
    if peak < Self.silence {
      warnings.append(
        Warning(
          .silentSound, input: input,
          detail: "Its sound is silent throughout. Allow the app to use the microphone, and film again."))
    }
    return warnings
  }
}
