import FoundationEssentials

extension Judge {
  /// MediaInfo, which has its own parsers of containers and bitstreams.
  static let mediainfo = Judge(
    "mediainfo", reads: ["video/mp4", "image/jpeg", "image/avif"]
  ) { output in
    let run = try await Program.run("mediainfo", ["--Full", "--Output=JSON", output.path])
    guard run.status == 0 else { return run.findings }
    let report = try JSONDecoder().decode(MediaInfoReport.self, from: Data(run.output.utf8))
    let tracks = report.media?.track ?? []
    let picture = tracks.first { $0.type == "Video" || $0.type == "Image" }
    // It tells the size in samples, which may be wider than high; mirrored, it counts them below zero.
    let aspect = abs(Double(picture?.pixelAspectRatio ?? "") ?? 1)
    let width = picture?.width.flatMap(Double.init).map { Int(($0 * aspect).rounded()) }
    let isTurned = [90, 270].contains(Int(Double(picture?.rotation ?? "") ?? 0))
    let size = [width, picture?.height.flatMap { Int($0) }].compactMap(\.self)
    var findings = run.findings + difference("size", isTurned ? size.reversed() : size, [output.width, output.height])
    for words in ["ConformanceErrors", "ConformanceWarnings", "IsTruncated"] where run.output.contains(words) {
      findings.append(words)
    }
    guard output.type == "video/mp4" else { return findings }
    let sound = tracks.first { $0.type == "Audio" }
    findings += difference("format", picture?.format, "AVC")
    findings += difference("frames", picture?.frameCount.flatMap { Int($0) }, output.frames)
    findings += difference("seconds", picture?.duration.flatMap { Double($0) }, output.seconds, within: 0.05)
    findings += difference("sound", sound?.format, output.soundSeconds == nil ? nil : "AAC")
    return findings
  }

  /// ExifTool, which validates containers and metadata, and finds what tells of place and device.
  static let exiftool = Judge(
    "exiftool", reads: ["video/mp4", "image/jpeg", "image/webp", "image/avif"]
  ) { outputs in
    let run = try await Program.run(
      "exiftool",
      ["-json", "-validate", "-warning", "-error", "-Make", "-Model", "-GPS*", "-Location*"] + outputs.map(\.path))
    let reports = try JSONDecoder().decode([[String: Words]].self, from: Data(run.output.utf8))
    let byPath = reports.reduce(into: [:]) { found, report in found[report["SourceFile"]?.text] = report }
    return outputs.map { output in
      guard let report = byPath[output.path] else { return ["says nothing"] + run.errors }
      return report.filter { $0.key != "SourceFile" && !($0.key == "Validate" && $0.value.text == "OK") }
        .map { "\($0.key): \($0.value.text)" }.sorted()
    }
  }
}

/// What MediaInfo says, as far as it is looked at.
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

/// A text or a number as text.
private struct Words: Decodable {
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
