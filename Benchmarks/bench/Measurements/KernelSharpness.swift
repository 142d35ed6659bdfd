internal import Kernels
internal import Model

/// How sharp the pictures of a scaling kernel of ours are against bicubic ones, and how like both are to Lanczos'.
struct KernelSharpness: Measurement {
  let figure: Figure
  private let kernel: ScalingKernel

  /// Each so many pictures of the back clip one is scaled.
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
    let chosen = "select='not(mod(n,\(Self.step)))'"
    let scale = "scale=\(kernel.target.width):\(kernel.target.height):flags=\(filter)+accurate_rnd+full_chroma_int"
    try Command(
      path: workbench.programs.ffmpeg,
      arguments: FFmpegSettings.quiet + ["-i", workbench.footage.back, "-vf", "\(chosen),\(scale)"]
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
      try kernel.draw(frame.picture.reading, into: target.picture)
      try writer.write(target.picture.reading)
    }
  }

  private func similarity(of video: RawVideo, to other: RawVideo, on workbench: Workbench) throws -> Similarity {
    try Similarity(
      of: video.input, count: video.count(), to: other, programs: workbench.programs, log: "\(video.path).log")
  }
}
