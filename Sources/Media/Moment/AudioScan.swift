import AV
import Glibc
import Model
import Platform

/// The audio of an input, decoded once before its frames: its peak, its first damage, and the signal by which it is
/// compared with the audio of another input.
struct AudioScan: Sendable {
  /// Samples per second of `detail`: a resolution of half a millisecond suffices to align frames.
  static let rate = 2000

  /// The differences between successive samples, low-passed at 800 Hz, from the file's time zero on, normalised by
  /// their mean power.
  let detail: [Int16]
  /// The largest magnitude of a sample; full scale is 1.
  let peak: Float
  /// The time of the first packet that cannot be decoded, in seconds; nil if there is none.
  let damage: Double?

  // The band below 4 kHz suffices for the peak: it holds nearly all of the power.
  private static let decodedRate = 8000
  private static let step = decodedRate / rate

  /// An audio stream to decode.
  struct Request: Sendable {
    let source: InputSource
    let stream: Int
    /// The file's time zero in seconds.
    let origin: Double
    /// The stream is decoded up to this time.
    let maxSeconds: Double
  }

  /// Decodes several audio streams, in the latency mode two of them concurrently.
  static func all(_ requests: [Request], mode: ExecutionMode) throws(RunFailure) -> [AudioScan] {
    var scans: [AudioScan] = []
    guard mode == .latency, requests.count == 2 else {
      for request in requests { scans.append(try AudioScan(request)) }
      return scans
    }
    let second = Channel<Result<AudioScan, RunFailure>>(capacity: 1)
    do {
      try NamedThread(name: "scan audio") {
        _ = second.put(Result { () throws(RunFailure) in try AudioScan(requests[1]) })
      }.detach()
    } catch {
      throw RunFailure(error)
    }
    let first = Result { () throws(RunFailure) in try AudioScan(requests[0]) }
    guard let other = second.take() else { return scans }
    scans.append(try first.get())
    scans.append(try other.get())
    return scans
  }

  /// Decodes an audio stream.
  init(_ request: Request) throws(RunFailure) {
    let reader = try AudioReader(
      request.source, stream: request.stream, rate: Self.decodedRate, origin: request.origin,
      maxSeconds: request.maxSeconds)
    try reader.run()
    damage = reader.damage
    peak = reader.samples.reduce(0) { max($0, $1.magnitude) }
    detail = Self.detail(of: reader.samples)
  }

  /// Low-passes and decimates to `rate`, takes differences, which flatten the spectrum, and scales to 12 bits.
  static func detail(of samples: [Float]) -> [Int16] {
    let taps = lowPass
    let half = taps.count / 2
    guard samples.count > taps.count else { return [] }
    let low = stride(from: half, to: samples.count - half, by: step).map { middle in
      taps.indices.reduce(Float(0)) { $0 + taps[$1] * samples[middle - half + $1] }
    }
    let differences = zip(low.dropFirst(), low).map { $0 - $1 }
    let power = differences.reduce(Float(0)) { $0 + $1 * $1 } / Float(max(1, differences.count))
    // Samples of floating point can be so large that their power is infinite.
    guard power > 0 && power.isFinite else { return [Int16](repeating: 0, count: differences.count) }
    let scale = 256 / power.squareRoot()
    return differences.map { Int16(min(max($0 * scale, -2047), 2047)) }
  }

  /// A windowed sinc whose cutoff is a tenth of `decodedRate`.
  private static let lowPass: [Float] = {
    let half = 16
    let taps = (-half...half).map { index -> Double in
      let position = Double(index)
      let sinc = index == 0 ? 0.2 : sin(0.2 * .pi * position) / (.pi * position)
      let window = 0.5 + 0.5 * sin(.pi / 2 + .pi * position / Double(half + 1))
      return sinc * window
    }
    let sum = taps.reduce(0, +)
    return taps.map { Float($0 / sum) }
  }()
}

extension AudioScan {
  // -60 dB of full scale. A microphone that is covered or off records less.
  private static let silence: Float = 0.001

  /// The warnings about the audio of an input.
  func warnings(of input: InputName) -> [Warning] {
    var warnings: [Warning] = []
    if let damage {
      warnings.append(
        Warning(
          .damagedAudio, input: input,
          finding: "its audio cannot be decoded at \(damage.hundredths) s and is silent there",
          seconds: damage))
    }
    if peak < Self.silence {
      warnings.append(Warning(.silentAudio, input: input, finding: "its audio is silent throughout"))
    }
    return warnings
  }
}
