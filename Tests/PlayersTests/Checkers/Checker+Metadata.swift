import FoundationEssentials

extension Checker {
  /// MediaInfo, which has its own parsers for containers and bitstreams.
  static let mediainfo = Checker(
    "mediainfo", reads: ["video/mp4", "image/jpeg", "image/avif"]
  ) { output in
    let run = try await Program.run("mediainfo", ["--Full", "--Output=JSON", output.path])
    guard run.status == 0 else { return run.findings }
    let report = try JSONDecoder().decode(MediaInfoReport.self, from: Data(run.output.utf8))
    let tracks = report.media?.track ?? []
    let video = tracks.first { $0.type == "Video" || $0.type == "Image" }
    // MediaInfo reports the size in samples, which may not be square; the ratio is negative if the video is mirrored.
    let aspect = abs(Double(video?.pixelAspectRatio ?? "") ?? 1)
    let width = video?.width.flatMap(Double.init).map { Int(($0 * aspect).rounded()) }
    let isRotated = [90, 270].contains(Int(Double(video?.rotation ?? "") ?? 0))
    let size = [width, video?.height.flatMap { Int($0) }].compactMap(\.self)
    var findings = run.findings + difference("size", isRotated ? size.reversed() : size, [output.width, output.height])
    for message in ["ConformanceErrors", "ConformanceWarnings", "IsTruncated"] where run.output.contains(message) {
      findings.append(message)
    }
    guard output.type == "video/mp4" else { return findings }
    let audio = tracks.first { $0.type == "Audio" }
    findings += difference("format", video?.format, "AVC")
    findings += difference("frames", video?.frameCount.flatMap { Int($0) }, output.frames)
    findings += difference("seconds", video?.duration.flatMap { Double($0) }, output.seconds, within: 0.05)
    findings += difference("audio", audio?.format, output.audioSeconds == nil ? nil : "AAC")
    return findings
  }

  /// ExifTool, which validates containers and metadata, and finds position, maker and model.
  static let exiftool = Checker(
    "exiftool", reads: ["video/mp4", "image/jpeg", "image/webp", "image/avif"]
  ) { outputs in
    let run = try await Program.run(
      "exiftool",
      ["-json", "-validate", "-warning", "-error", "-Make", "-Model", "-GPS*", "-Location*"] + outputs.map(\.path))
    let reports = try JSONDecoder().decode([[String: Text]].self, from: Data(run.output.utf8))
    let byPath = reports.reduce(into: [:]) { found, report in found[report["SourceFile"]?.text] = report }
    return outputs.map { output in
      guard let report = byPath[output.path] else { return ["no report"] + run.errors }
      return report.filter { $0.key != "SourceFile" && !($0.key == "Validate" && $0.value.text == "OK") }
        .map { "\($0.key): \($0.value.text)" }.sorted()
    }
  }
}

/// The members of MediaInfo's report that are checked.
private struct MediaInfoReport: Decodable {
  let media: Media?

  struct Media: Decodable {
    let track: [Track]
  }

  struct Track: Decodable {
    let type: String
    let format: String?
    let width: String?
    let height: String?
    let pixelAspectRatio: String?
    let rotation: String?
    let frameCount: String?
    let duration: String?

    private enum CodingKeys: String, CodingKey {
      case type = "@type"
      case format = "Format"
      case width = "Width"
      case height = "Height"
      case pixelAspectRatio = "PixelAspectRatio"
      case rotation = "Rotation"
      case frameCount = "FrameCount"
      case duration = "Duration"
    }
  }
}

/// A string or a number as text.
private struct Text: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else {
      text = "\(try container.decode(Double.self))"
    }
  }
}
