internal import Model

/// Which of two composed videos is more like the pictures that were encoded.
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
