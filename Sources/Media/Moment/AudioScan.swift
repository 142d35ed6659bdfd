import AV
import Model
import Platform

/// The audio of an input, decoded once before its frames: its peak, its first damage, and the signal by which it is
/// compared with the audio of another input.
struct AudioScan: Sendable {
  /// What the sound is compared by, from the file's time zero on.
  let detail: SoundDetail
  /// The largest magnitude of a sample; full scale is 1.
  let peak: Float
  /// Whether it is at full scale for a part of the time that is audible.
  let isOverdriven: Bool
  /// The time of the first packet that cannot be decoded, in seconds; nil if there is none.
  let damage: Double?
  /// Nil of silence, and of less than 0.4 s.
  let loudness: Loudness?

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
      request.source, stream: request.stream, rate: SoundDetail.sourceRate, origin: request.origin,
      maxSeconds: request.maxSeconds)
    try reader.run()
    damage = reader.damage
    peak = reader.peak
    isOverdriven = reader.isOverdriven
    loudness = reader.loudness
    detail = SoundDetail(reader.mixed)
  }
}

extension AudioScan {
  /// The decision to encode it quieter; nil: it is encoded as it is.
  func levelDecision(of input: InputName) -> Decision? {
    isOverdriven
      ? Decision(
        .audio, input: input, choice: "6 dB quieter", reason: "it is at full scale, which its encoding would exceed")
      : nil
  }

  // -60 dB of full scale. A microphone that is covered or off records less.
  private static let silence: Float = 0.001

  /// Whether it is silent throughout.
  var isSilent: Bool { peak < Self.silence }

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
    if isSilent {
      warnings.append(Warning(.silentAudio, input: input, finding: "its audio is silent throughout"))
    }
    return warnings
  }
}
