internal import Model

/// How like the pictures that we compose are to those that ffmpeg's filters compose, both hardly compressed: what the
/// encoder loses shows in ffmpeg's own number.
struct CompositionFidelity: Measurement {
  let figure: Figure
  private let definition: Definition

  /// Without loss there is no High profile; this comes near to it.
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
        Finding.Detail("ffmpeg, encoded alike, SSIM", [their.structure], decimals: 5),
        Finding.Detail("take5, PSNR in dB", [our.noiseRatio], decimals: 2),
        Finding.Detail("ffmpeg, encoded alike, PSNR in dB", [their.noiseRatio], decimals: 2),
      ])
  }
}
