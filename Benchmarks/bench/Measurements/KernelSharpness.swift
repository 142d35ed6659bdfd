internal import AV
internal import Kernels
internal import Model

/// The sharpness of a scaling kernel of take5 against bicubic scaling, and the similarity of both to Lanczos scaling.
struct KernelSharpness: Measurement {
  let figure: Figure
  private let kernel: ScalingKernel

  /// Every fifth frame of the back clip is scaled.
  private static let step = 5

  init(_ kernel: ScalingKernel) {
    self.kernel = kernel
    figure = Figure("video.kernel.\(kernel.name).gradients_vs_bicubic", kernel.meaning)
  }

  func measure(on workbench: Workbench) throws -> Finding {
    Console.progress("scaling with the kernel \(kernel.name)")
    let lanczos = try scaled(by: "lanczos", on: workbench)
    let bicubic = try scaled(by: "bicubic", on: workbench)
    let ours = raw("ours", on: workbench)
    defer { for video in [lanczos, bicubic, ours] { video.remove() } }
    try draw(workbench.footage.back, into: ours)
    let our = try similarity(of: ours, to: lanczos, on: workbench)
    let their = try similarity(of: bicubic, to: lanczos, on: workbench)
    return Finding(
      figure, [try GradientEnergy.mean(of: ours) / GradientEnergy.mean(of: bicubic)],
      details: [
        Finding.Detail("ours, SSIM to Lanczos", [our.structure], decimals: 5),
        Finding.Detail("bicubic, SSIM to Lanczos", [their.structure], decimals: 5),
      ])
  }

  private func raw(_ name: String, on workbench: Workbench) -> RawVideo {
    RawVideo(path: "\(workbench.folder)/\(kernel.name)-\(name).yuv", size: kernel.target, framesPerSecond: 30)
  }

  private func scaled(by filter: String, on workbench: Workbench) throws -> RawVideo {
    let video = raw(filter, on: workbench)
    let selection = "select='not(mod(n,\(Self.step)))'"
    let scale = "scale=\(kernel.target.width):\(kernel.target.height):flags=\(filter)+accurate_rnd+full_chroma_int"
    try Command(
      path: workbench.programs.ffmpeg,
      arguments: FFmpegSettings.quiet + ["-i", workbench.footage.back, "-vf", "\(selection),\(scale)"]
        + ["-fps_mode", "passthrough", "-f", "rawvideo", video.path],
      log: "\(video.path).log"
    ).run()
    return video
  }

  private func draw(_ clip: String, into video: RawVideo) throws {
    let target = ImageBuffer(width: video.size.width, height: video.size.height)
    let writer = try RawVideoWriter(video)
    var count = 0
    try ClipDecoder(clip).forEach { frame in
      defer { count += 1 }
      guard count % Self.step == 0 else { return }
      try kernel.draw(frame.imagePlanes.reading, into: target.imagePlanes)
      try writer.write(target.imagePlanes.reading)
    }
  }

  private func similarity(of video: RawVideo, to other: RawVideo, on workbench: Workbench) throws -> Similarity {
    try Similarity(
      of: video.input, count: video.count(), to: other, programs: workbench.programs, log: "\(video.path).log")
  }
}

/// A way in which take5 scales frames down; a new kernel is a line in `all`.
struct ScalingKernel: Sendable {
  let name: String
  /// A short description.
  let meaning: String
  /// The size of the scaled frames.
  let target: Size
  private let scale: @Sendable (ImagePlanes, MutableImagePlanes) throws -> Void

  static let all = [
    ScalingKernel("two_thirds", "two thirds, as for a canvas of 720", to: Size(width: 720, height: 1280)) {
      $1.copy(twoThirdsOf: $0)
    },
    ScalingKernel("halved", "halved only", to: Size(width: 540, height: 960)) { $1.copy(halving: $0) },
    ScalingKernel(
      "halved_then_bicubic", "halved, then bicubic, as for an inset on 1080", to: Size(width: 324, height: 576),
      scale: halveThenScale),
    ScalingKernel("mean_of_5", "the mean of 5x5, as for an inset on 720", to: Size(width: 216, height: 384)) {
      $1.copy(meansOf: $0, side: 5)
    },
  ]

  private init(
    _ name: String, _ meaning: String, to target: Size,
    scale: @escaping @Sendable (ImagePlanes, MutableImagePlanes) throws -> Void
  ) {
    self.name = name
    self.meaning = meaning
    self.target = target
    self.scale = scale
  }

  /// Scales a frame of `PhoneFootage.size`.
  func draw(_ source: ImagePlanes, into target: MutableImagePlanes) throws { try scale(source, target) }

  @Sendable private static func halveThenScale(_ source: ImagePlanes, into target: MutableImagePlanes) throws {
    let half = ImageBuffer(width: source.width / 2, height: source.height / 2)
    half.imagePlanes.copy(halving: source)
    try Scaler(from: side(half.width, half.height), to: side(target.width, target.height))
      .scale(half.imagePlanes.planes, to: target.planes)
  }

  private static func side(_ width: Int, _ height: Int) -> Scaler.Side {
    Scaler.Side(width: width, height: height, format: .yuv420p, matrix: .bt709, isFullRange: false)
  }
}

extension MutableImagePlanes {
  fileprivate var planes: Scaler.Planes {
    Scaler.Planes((y.base, y.stride), (u.base, u.stride), (v.base, v.stride))
  }
}

/// The mean squared difference between neighbouring luma samples; lower in blurred frames.
struct GradientEnergy {
  private var sum: UInt64 = 0
  private var count = 0

  /// Returns the mean of all frames of a video.
  static func mean(of video: RawVideo) throws -> Double {
    let reader = try RawVideoReader(video)
    let buffer = ImageBuffer(width: video.size.width, height: video.size.height)
    var energy = GradientEnergy()
    while try reader.next(into: buffer.imagePlanes) { energy.add(buffer.imagePlanes.y.reading) }
    return Double(energy.sum) / Double(energy.count)
  }

  private mutating func add(_ plane: Plane) {
    for y in 1..<plane.height {
      let row = plane.base + y * plane.stride
      var rowSum: UInt64 = 0
      for x in 1..<plane.width {
        let value = Int(row.load(fromByteOffset: x, as: UInt8.self))
        let left = value - Int(row.load(fromByteOffset: x - 1, as: UInt8.self))
        let above = value - Int(row.load(fromByteOffset: x - plane.stride, as: UInt8.self))
        rowSum += UInt64(left * left + above * above)
      }
      sum += rowSum
    }
    count += (plane.width - 1) * (plane.height - 1)
  }
}
