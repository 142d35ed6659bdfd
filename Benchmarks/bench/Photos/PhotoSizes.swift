internal import Platform

/// How many bytes our variants have against libvips' at the same quality: the largest ratio of the four.
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
    _ = try workbench.workplace(of: contestant)
    let path = "\(workbench.folder)/\(contestant.name)/out/0.\(variant).jpg"
    return Double(try Descriptor(reading: path).size())
  }
}
