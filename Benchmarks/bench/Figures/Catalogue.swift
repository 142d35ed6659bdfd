internal import MediaProcess
internal import Model

/// The figures and observations of a benchmark.
struct Catalogue {
  /// The measurements with a goal, and those reported next to them.
  let figures: [any Measurement]
  /// Measurements that explain the figures.
  let observations: [any Measurement]

  /// The measurements of videos.
  ///
  /// - Parameter definition: the built-in definition.
  init(_ definition: Definition) throws {
    let shipped = try definition.comparable()
    let small = shipped.scaled(toWidth: 720)
    let veryfast = shipped.encoded(Definition.VideoEncoding(preset: "veryfast", crf: 23))

    figures = [
      PairedComparison(
        Figure(
          "video.cpu.same_settings_1080.vs_ffmpeg", "CPU against one ffmpeg command with the same x264 settings",
          .atMost(0.92)),
        of: .processor, Take5(shipped), to: FFmpegCommand(shipped, threads: 1)),
      PairedComparison(
        Figure(
          "video.cpu.same_settings_720.vs_ffmpeg", "the same, composed in 720x1280", .atMost(0.80)),
        of: .processor, Take5(small), to: FFmpegCommand(small, threads: 1)),
      PairedComparison(
        Figure(
          "video.cpu.shipped.vs_ffmpeg", "CPU as shipped against one ffmpeg command, veryfast crf 23", .atMost(0.70)),
        of: .processor, Take5(shipped), to: FFmpegCommand(veryfast, threads: 1)),
      PairedComparison(
        Figure(
          "video.cpu.shipped.vs_naive", "CPU as shipped against a command for each step, veryfast crf 23",
          .atMost(0.50)),
        of: .processor, Take5(shipped), to: NaiveCommands(veryfast, threads: 1)),
      PairedComparison(
        Figure(
          "video.cpu.vs_limit", "CPU against decoding both clips and encoding composed frames", .atMost(1.05)),
        of: .processor, Take5(shipped), to: Limit(shipped)),
      PairedComparison(
        Figure(
          "video.memory.vs_ffmpeg", "peak memory against one ffmpeg command with the same x264 settings", .atMost(0.60)),
        of: .memory, Take5(shipped), to: FFmpegCommand(shipped, threads: 1)),
      PairedComparison(
        Figure(
          "video.wall.latency_mode.vs_ffmpeg",
          "elapsed time in latency mode against one ffmpeg command, veryfast crf 23, default threads",
          .atMost(0.65)),
        of: .clock, Take5(shipped, mode: .latency), to: FFmpegCommand(veryfast, threads: nil)),
      ThroughputComparison(
        Figure("video.jobs_per_minute.two_workers.vs_one", "moments per minute, two workers against one", decimals: 2)),
      SimilarityComparison(
        Figure(
          "video.ssim.shipped_minus_veryfast", "SSIM as shipped minus that of ffmpeg, veryfast crf 23",
          .atLeast(0), decimals: 5),
        shipped, of: Take5(shipped), to: FFmpegCommand(veryfast, threads: 1)),
      SizeComparison(
        Figure("video.size.vs_veryfast", "bytes as shipped against ffmpeg's, veryfast crf 23", .atMost(1.27)),
        of: Take5(shipped), to: FFmpegCommand(veryfast, threads: 1)),
      PairedComparison(
        Figure("video.walls.cpu.vs_off", "CPU as shipped against CPU without walls", .atMost(1.02)),
        of: .processor, Take5(shipped), to: Take5(shipped, sandbox: .off)),
      WallsLatency(
        Figure(
          "video.walls.latency.minus_off", "ms of a small moment in the service minus those without walls",
          .atMost(15), decimals: 1),
        shipped),
      ForkComparison(
        Figure("video.walls.fork_cpu.vs_start", "CPU of a child with walls against a process without", .atMost(1)),
        of: \.processor, limits: shipped.limits),
      ForkComparison(
        Figure("video.walls.fork_elapsed.vs_start", "the same, elapsed time", .atMost(1)), of: \.elapsed,
        limits: shipped.limits),
    ]
    observations =
      [
        CompositionFidelity(
          Figure(
            "video.composition_1080.ssim", "composed frames against ffmpeg's, almost lossless", decimals: 5),
          shipped),
        CompositionFidelity(
          Figure("video.composition_720.ssim", "the same, composed in 720x1280", decimals: 5), small),
      ] + ScalingKernel.all.map { KernelSharpness($0) }
  }

  /// The measurements of photos.
  private init(photos: Void) {
    figures = [
      PairedComparison(
        Figure("photo.cpu.warm.vs_pyvips", "CPU of a photo in a warm process against pyvips", .atMost(0.30)),
        of: .processor, PhotoContestant(.take5, warm: Self.warm), to: PhotoContestant(.pyvips, warm: Self.warm)),
      PairedComparison(
        Figure("photo.cpu.warm.vs_pillow", "the same against Pillow", .atMost(0.22)),
        of: .processor, PhotoContestant(.take5, warm: Self.warm), to: PhotoContestant(.pillow, warm: Self.warm)),
      PairedComparison(
        Figure(
          "photo.cpu.command.vs_vipsthumbnail", "CPU as a command against vipsthumbnail four times", .atMost(0.20)),
        of: .processor, PhotoContestant(.take5), to: PhotoContestant(.vipsthumbnail)),
      PairedComparison(
        Figure("photo.memory.vs_vipsthumbnail", "peak memory as a command against vipsthumbnail", .atMost(0.40)),
        of: .memory, PhotoContestant(.take5), to: PhotoContestant(.vipsthumbnail)),
      PairedComparison(
        Figure("photo.walls.cpu.vs_off", "CPU of a photo in a warm process against CPU without walls", .atMost(1.05)),
        of: .processor, PhotoContestant(.take5, warm: Self.warm),
        to: PhotoContestant(.take5, warm: Self.warm, sandbox: .off)),
      PhotoSimilarity(
        Figure("photo.ssim_2048.minus_vips", "SSIM at 2048 minus that of libvips", .atLeast(0), decimals: 5),
        variant: "large"),
      PhotoSimilarity(
        Figure("photo.ssim_1080.minus_vips", "the same at 1080", .atLeast(0), decimals: 5), variant: "medium"),
      PhotoSimilarity(
        Figure("photo.ssim_320.minus_vips", "the same at 320", .atLeast(0), decimals: 5), variant: "small"),
      PhotoSizes(
        Figure(
          "photo.size.vs_vips", "bytes against libvips' at the same quality, the largest ratio of four variants",
          .atMost(1.02))),
    ]
    observations = []
  }

  private static let warm = 20

  /// The measurements of photos against other programs.
  static var photos: Catalogue { Catalogue(photos: ()) }

  /// The names of all measurements.
  var names: [String] { (figures + observations).map(\.figure.name) }

  /// Returns the measurements with these names or prefixes; all if there are none.
  func selected(_ only: [String]) throws -> (figures: [any Measurement], observations: [any Measurement]) {
    for wanted in only where !names.contains(where: { $0.hasPrefix(wanted) }) {
      throw BenchError("unknown figure \(wanted); known figures: \(names.joined(separator: ", "))")
    }
    func isWanted(_ measurement: any Measurement) -> Bool {
      only.isEmpty || only.contains { measurement.figure.name.hasPrefix($0) }
    }
    return (figures.filter(isWanted), observations.filter(isWanted))
  }
}
