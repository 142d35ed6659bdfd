internal import Model

/// The similarity in luma between a video or an image and its reference.
struct Similarity {
  /// The mean structural similarity of all frames (Wang et al., 2004); 1 for identical frames.
  let structure: Double
  /// The peak signal-to-noise ratio in decibels; infinite for identical frames.
  let noiseRatio: Double

  /// Compares a video with a reference of as many frames, frame by frame and without regard to timestamps.
  ///
  /// - Parameters:
  ///   - input: the arguments for ffmpeg.
  ///   - count: the frames of the input.
  init(of input: [String], count: Int, to reference: RawVideo, programs: Programs, log: String) throws {
    guard try reference.count() == count else {
      throw BenchError("cannot compare \(count) frames with the \(try reference.count()) frames of \(reference.path)")
    }
    let rate = reference.framesPerSecond
    let numbered = { (stream: Int) in "[\(stream):v]settb=1/\(rate),setpts=N,split" }
    let graph = "\(numbered(0))[a][b];\(numbered(1))[c][d];[a][c]ssim[s];[b][d]psnr[p]"
    let text = try Command(
      path: programs.ffmpeg,
      arguments: ["-nostdin", "-hide_banner", "-nostats"] + input + reference.input + ["-filter_complex", graph]
        + ["-map", "[s]", "-f", "null", "-", "-map", "[p]", "-f", "null", "-"],
      log: log
    ).output()
    try self.init(report: text, log: log)
  }

  /// Reads the results of ffmpeg's filters `ssim` and `psnr`.
  ///
  /// - Parameters:
  ///   - text: the output of ffmpeg.
  ///   - log: the path of the same output, for errors.
  init(report text: String, log: String) throws {
    guard let structure = Self.number(after: "SSIM Y:", in: text), let noise = Self.number(after: "PSNR y:", in: text)
    else { throw BenchError("ffmpeg reported no SSIM or no PSNR; its output: \(log)") }
    self.structure = structure
    noiseRatio = noise
  }

  private static func number(after label: String, in text: String) -> Double? {
    text.firstRange(of: label).flatMap { Double(text[$0.upperBound...].prefix { !$0.isWhitespace }) }
  }
}

extension Workbench {
  /// Returns the similarity of a contestant's composed video to the frames before encoding.
  func similarity(of contestant: any Contestant, to reference: RawVideo) throws -> Similarity {
    let video = try prepared(contestant).composed()
    Console.progress("comparing the frames of \(contestant.name)")
    var frames = 0
    try ClipDecoder(video).forEach { _ in frames += 1 }
    return try Similarity(
      of: ["-i", video], count: frames, to: reference, programs: programs,
      log: "\(folder)/\(contestant.name)/similarity.log")
  }
}

/// Compares the similarity of two composed videos to the frames before encoding.
struct SimilarityComparison: Measurement {
  let figure: Figure
  private let ours: any Contestant
  private let peer: any Contestant
  private let definition: Definition

  init(_ figure: Figure, _ definition: Definition, of ours: any Contestant, to peer: any Contestant) {
    self.figure = figure
    self.ours = ours
    self.peer = peer
    self.definition = definition
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let reference = try workbench.reference(for: definition)
    let our = try workbench.similarity(of: ours, to: reference)
    let their = try workbench.similarity(of: peer, to: reference)
    return Finding(
      figure, [our.structure - their.structure],
      details: [
        Finding.Detail("\(ours.title), SSIM", [our.structure], decimals: 5),
        Finding.Detail("\(peer.title), SSIM", [their.structure], decimals: 5),
        Finding.Detail("\(ours.title), PSNR in dB", [our.noiseRatio], decimals: 2),
        Finding.Detail("\(peer.title), PSNR in dB", [their.noiseRatio], decimals: 2),
      ])
  }
}

/// The similarity of take5's composed frames to those of ffmpeg's filters, both encoded almost without loss. The loss of
/// the encoder shows in ffmpeg's own value.
struct CompositionFidelity: Measurement {
  let figure: Figure
  private let definition: Definition

  /// Nearly lossless: x264's lossless mode is not part of the High profile.
  private static let encoding = Definition.VideoEncoding(preset: "ultrafast", crf: 1)

  init(_ figure: Figure, _ definition: Definition) {
    self.figure = figure
    self.definition = definition.encoded(Self.encoding)
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let reference = try workbench.reference(for: definition)
    let our = try workbench.similarity(of: Take5(definition), to: reference)
    let their = try workbench.similarity(of: FFmpegCommand(definition, threads: 1), to: reference)
    return Finding(
      figure, [our.structure],
      details: [
        Finding.Detail("ffmpeg, same encoding, SSIM", [their.structure], decimals: 5),
        Finding.Detail("take5, PSNR in dB", [our.noiseRatio], decimals: 2),
        Finding.Detail("ffmpeg, same encoding, PSNR in dB", [their.noiseRatio], decimals: 2),
      ])
  }
}
