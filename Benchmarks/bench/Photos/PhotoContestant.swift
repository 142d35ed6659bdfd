import Glibc
internal import Kernels
internal import MediaFixtures
internal import MediaProcess
internal import Model
internal import Platform
internal import Stills

/// A program that makes the four variants of photos.
struct PhotoContestant: Contestant {
  /// The program or library.
  enum Maker: String, Sendable {
    case take5, pyvips, pillow = "Pillow", vipsthumbnail
  }

  private let maker: Maker
  /// The photos of one run after a first one, whose cost is subtracted; 0: one photo, and nothing is subtracted.
  private let warm: Int
  private let sandbox: SandboxMode

  /// - Parameter sandbox: the walls of take5.
  init(_ maker: Maker, warm: Int = 0, sandbox: SandboxMode = .available) {
    self.maker = maker
    self.warm = warm
    self.sandbox = sandbox
  }

  var name: String { "photo-\(maker.rawValue)-\(warm)" + (sandbox == .off ? "-unconfined" : "") }
  var title: String { sandbox == .off ? "without walls" : maker.rawValue }

  /// The longest edges of the variants, by the names in their files.
  static let edges = ["large": 2048, "medium": 1080, "small": 320]

  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant {
    let photos = try workbench.photos().paths
    // Copies with unique names, so that no output overwrites another.
    var copies: [String] = []
    for number in 0...warm {
      let copy = "\(folder)/\(number).jpg"
      try Descriptor(writing: copy, replacing: true).write(
        try Descriptor(reading: photos[number % photos.count]).contents())
      copies.append(copy)
    }
    let all = try commands(copies, folder: folder, on: workbench)
    guard warm > 0 else { return PreparedContestant(commands: all) }
    let first = try commands([copies[0]], folder: folder, on: workbench)
    return PreparedContestant(commands: all) { try Cost.measuring(first).processor }
  }

  private func commands(_ photos: [String], folder: String, on workbench: Workbench) throws -> [Command] {
    let log = "\(folder)/log"
    // vipsthumbnail resolves a relative path in the folder of the photo.
    try Folder.make("\(folder)/out")
    let out = try Folder.resolved("\(folder)/out")
    switch maker {
    case .take5:
      return [
        Command(
          path: workbench.programs.take5,
          arguments: ["photo"] + photos + ["-o", out, "--force", "--sandbox", sandbox.rawValue], log: log)
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
  /// Returns the photos to measure.
  func photos() throws -> PhotoSet { try PhotoSet(folder: folder, progress: Console.progress) }
}

/// The paths of the programs that photos are compared with.
struct PhotoPrograms: Sendable {
  /// The Python of an environment with pyvips and Pillow.
  let python: String
  let vipsthumbnail: String

  /// - Parameter folder: the folder in which `make bench-photo` installs the environment.
  init(folder: String) throws {
    python = "\(folder)/venv/bin/python"
    vipsthumbnail = "/usr/bin/vipsthumbnail"
    for program in [python, vipsthumbnail] where access(program, X_OK) != 0 {
      throw BenchError("\(program) not found; run 'make bench-photo', which installs it")
    }
  }
}

/// The photos to measure: those that `BENCH_PHOTO` names, or a synthetic one of 12 megapixels.
struct PhotoSet: Sendable {
  let paths: [String]

  init(folder: String, progress: (String) -> Void) throws {
    if let named = getenv("BENCH_PHOTO").map({ String(cString: $0) }), !named.isEmpty {
      paths = named.split(separator: " ").map(String.init)
      for path in paths where access(path, R_OK) != 0 {
        throw BenchError("\(path), which BENCH_PHOTO names, cannot be read")
      }
      return
    }
    let path = "\(folder)/photo-1.jpg"
    if access(path, R_OK) != 0 {
      progress("rendering a photo")
      try Descriptor(writing: path, replacing: true).write(try Self.photo())
    }
    paths = [path]
  }

  private static func photo() throws -> [UInt8] {
    let (width, height) = (4032, 3024)
    let texture = DeadLeaves.texture(width: width, height: height, count: 6000, seed: 11)
    var state: UInt64 = 3
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        // Sensor noise.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = Float(Int8(truncatingIfNeeded: state >> 40)) / 24
        let color = texture.color(Float(x), Float(y)) * 255
        for component in [color.x, color.y, color.z] { bytes.append(UInt8(min(max(component + noise, 0), 255))) }
      }
    }
    return try PhotoFixture.libjpeg(RGBImage(width: width, height: height, bytes: bytes), quality: 92)
  }
}
