internal import Model
internal import Platform

/// Somebody who makes the four variants of photos.
struct PhotoContestant: Contestant {
  /// Whose way it is.
  enum Maker: String, Sendable {
    case take5, pyvips, pillow = "Pillow", vipsthumbnail
  }

  private let maker: Maker
  /// How many photos one run makes after a first one, whose cost is left out; 0: one photo, and nothing is left out.
  private let warm: Int

  init(_ maker: Maker, warm: Int = 0) {
    self.maker = maker
    self.warm = warm
  }

  var name: String { "photo-\(maker.rawValue)-\(warm)" }
  var title: String { maker.rawValue }

  /// The variants, by what files are called.
  static let edges = ["large": 2048, "medium": 1080, "small": 320]

  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace {
    let photos = try workbench.photos().paths
    // Copies under names of their own, so that no file is written twice.
    var copies: [String] = []
    for number in 0...warm {
      let copy = "\(folder)/\(number).jpg"
      try Descriptor(writing: copy, replacing: true).write(
        try Descriptor(reading: photos[number % photos.count]).contents())
      copies.append(copy)
    }
    let all = try commands(copies, folder: folder, on: workbench)
    guard warm > 0 else { return Workplace(commands: all) }
    let first = try commands([copies[0]], folder: folder, on: workbench)
    return Workplace(commands: all) { try Cost.measuring(first).processor }
  }

  private func commands(_ photos: [String], folder: String, on workbench: Workbench) throws -> [Command] {
    let log = "\(folder)/log"
    // vipsthumbnail takes a relative path for one beside the photo.
    try Folder.make("\(folder)/out")
    let out = try Folder.resolved("\(folder)/out")
    switch maker {
    case .take5:
      return [
        Command(path: workbench.programs.take5, arguments: ["photo"] + photos + ["-o", out, "--force"], log: log)
      ]
    case .pyvips, .pillow:
      let script = maker == .pyvips ? PhotoScript.pyvips : PhotoScript.pillow
      return [
        Command(
          path: try PhotoPrograms(folder: workbench.folder).python, arguments: ["-c", script, out] + photos, log: log,
          environment: ["VIPS_CONCURRENCY": "1"])
      ]
    case .vipsthumbnail:
      let program = try PhotoPrograms(folder: workbench.folder).vipsthumbnail
      let options = "[Q=80,interlace,optimize-coding,strip]"
      return photos.flatMap { photo in
        Self.edges.sorted { $0.value > $1.value }.map { name, edge in
          Command(
            path: program,
            arguments: [photo, "--size", "\(edge)x\(edge)", "--export-profile", "srgb"]
              + ["-o", "\(out)/%s.\(name).jpg\(options)"], log: log)
        } + [
          Command(
            path: program,
            arguments: [photo, "--size", "150x150", "--smartcrop", "centre", "--export-profile", "srgb"]
              + ["-o", "\(out)/%s.square.jpg\(options)"], log: log)
        ]
      }
    }
  }
}

extension Workbench {
  /// The photos that are measured with.
  func photos() throws -> PhotoSet { try PhotoSet(folder: folder, progress: Console.progress) }
}
