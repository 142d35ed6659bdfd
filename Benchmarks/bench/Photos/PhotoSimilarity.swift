internal import Platform

/// How much more like the reference our variant of the first photo is than libvips', in luma.
struct PhotoSimilarity: Measurement {
  let figure: Figure
  private let variant: String
  private let ours = PhotoContestant(.take5)
  private let peer = PhotoContestant(.vipsthumbnail)

  /// - Parameter variant: what its file is called.
  init(_ figure: Figure, variant: String) {
    self.figure = figure
    self.variant = variant
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let our = try similarity(of: ours, on: workbench)
    let their = try similarity(of: peer, on: workbench)
    return Finding(
      figure, [our.structure - their.structure],
      details: [
        Finding.Detail("take5, SSIM", [our.structure], decimals: 5),
        Finding.Detail("libvips, SSIM", [their.structure], decimals: 5),
        Finding.Detail("take5, PSNR in dB", [our.noise], decimals: 2),
        Finding.Detail("libvips, PSNR in dB", [their.noise], decimals: 2),
      ])
  }

  private func similarity(
    of contestant: PhotoContestant, on workbench: Workbench
  ) throws -> (structure: Double, noise: Double) {
    _ = try workbench.workplace(of: contestant)
    let folder = "\(workbench.folder)/\(contestant.name)"
    try Command(
      path: try PhotoPrograms(folder: workbench.folder).python,
      arguments: ["-c", PhotoScript.reference, folder, "\(folder)/0.jpg"], log: "\(folder)/reference.log"
    ).run()
    let text = try Command(
      path: workbench.programs.ffmpeg,
      arguments: ["-nostdin", "-hide_banner", "-nostats", "-i", "\(folder)/out/0.\(variant).jpg"]
        + ["-i", "\(folder)/0.\(variant).png", "-filter_complex"]
        + [
          "[0:v]format=yuvj444p,split[a][b];[1:v]format=rgb24,scale=out_range=full:out_color_matrix=bt601,"
            + "format=yuvj444p,split[c][d];[a][c]ssim[s];[b][d]psnr[p]"
        ] + ["-map", "[s]", "-f", "null", "-", "-map", "[p]", "-f", "null", "-"],
      log: "\(folder)/similarity.log"
    ).output()
    guard let structure = Similarity.number(after: "SSIM Y:", in: text),
      let noise = Similarity.number(after: "PSNR y:", in: text)
    else { throw BenchError("ffmpeg did not say how like the pictures are; what it said: \(folder)/similarity.log") }
    return (structure, noise)
  }
}
