/// How like the pictures of a video are to those it should show, in luma: 1 and infinity are the same.
struct Similarity {
  /// The structural similarity, the mean of all pictures (Wang et al., 2004).
  let structure: Double
  /// The peak signal-to-noise ratio in decibels.
  let noiseRatio: Double

  /// Compares picture by picture, whatever their times are; there must be as many of them.
  ///
  /// - Parameter input: as ffmpeg takes it.
  init(of input: [String], count: Int, to reference: RawVideo, programs: Programs, log: String) throws {
    guard try reference.count() == count else {
      throw BenchError("\(count) pictures cannot be compared with the \(try reference.count()) of \(reference.path)")
    }
    let rate = reference.framesPerSecond
    let numbered = { (stream: Int) in "[\(stream):v]settb=1/\(rate),setpts=N,split" }
    let graph = "\(numbered(0))[a][b];\(numbered(1))[c][d];[a][c]ssim[s];[b][d]psnr[p]"
    let text = try Command(
      path: programs.ffmpeg,
      arguments: ["-nostdin", "-hide_banner", "-nostats"] + input + reference.input + ["-filter_complex", graph]
        + ["-map", "[s]", "-f", "null", "-", "-map", "[p]", "-f", "null", "-"],
      log: log
    ).output()
    guard let structure = Self.number(after: "SSIM Y:", in: text), let noise = Self.number(after: "PSNR y:", in: text)
    else { throw BenchError("ffmpeg did not say how like the pictures are; what it said: \(log)") }
    self.structure = structure
    noiseRatio = noise
  }

  static func number(after label: String, in text: String) -> Double? {
    text.firstRange(of: label).flatMap { Double(text[$0.upperBound...].prefix { !$0.isWhitespace }) }
  }
}

extension Workbench {
  /// How like a contestant's composed video is to its definition's pictures.
  func similarity(of contestant: any Contestant, to reference: RawVideo) throws -> Similarity {
    let video = try workplace(of: contestant).composed()
    Console.progress("comparing the pictures of \(contestant.name)")
    var pictures = 0
    try ClipDecoder(video).forEach { _ in pictures += 1 }
    return try Similarity(
      of: ["-i", video], count: pictures, to: reference, programs: programs,
      log: "\(folder)/\(contestant.name)/similarity.log")
  }
}
