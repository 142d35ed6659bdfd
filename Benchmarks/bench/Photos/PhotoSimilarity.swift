internal import Platform

/// The SSIM in luma of take5's variant of the first photo minus that of libvips', both against one reference.
struct PhotoSimilarity: Measurement {
  let figure: Figure
  private let variant: String
  private let ours = PhotoContestant(.take5)
  private let peer = PhotoContestant(.vipsthumbnail)

  /// - Parameter variant: the name of the variant, part of its file name.
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
        Finding.Detail("take5, PSNR in dB", [our.noiseRatio], decimals: 2),
        Finding.Detail("libvips, PSNR in dB", [their.noiseRatio], decimals: 2),
      ])
  }

  private func similarity(of contestant: PhotoContestant, on workbench: Workbench) throws -> Similarity {
    _ = try workbench.prepared(contestant)
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
    return try Similarity(report: text, log: "\(folder)/similarity.log")
  }
}

/// The size of take5's variants against libvips' at the same quality: the largest ratio of the four.
struct PhotoSizes: Measurement {
  let figure: Figure
  private let ours = PhotoContestant(.take5)
  private let peer = PhotoContestant(.vipsthumbnail)

  init(_ figure: Figure) { self.figure = figure }

  func measure(on workbench: Workbench) throws -> Finding {
    var ratios: [Double] = []
    var details: [Finding.Detail] = []
    for variant in ["large", "medium", "small", "square"] {
      let our = try bytes(ours, variant, on: workbench)
      let their = try bytes(peer, variant, on: workbench)
      ratios.append(our / their)
      details.append(Finding.Detail("\(variant): take5, kB", [our / 1000], decimals: 1))
      details.append(Finding.Detail("\(variant): libvips, kB", [their / 1000], decimals: 1))
    }
    return Finding(figure, [ratios.max() ?? 0], details: details)
  }

  private func bytes(_ contestant: PhotoContestant, _ variant: String, on workbench: Workbench) throws -> Double {
    _ = try workbench.prepared(contestant)
    let path = "\(workbench.folder)/\(contestant.name)/out/0.\(variant).jpg"
    return Double(try Descriptor(reading: path).size())
  }
}
