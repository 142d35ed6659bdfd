extension Checker {
  /// The ffmpeg command; every message of its demuxer and decoders is an error.
  static let ffmpeg = Checker(
    "ffmpeg", reads: ["video/mp4", "image/jpeg", "image/webp"],
    limit: { $0.type == "image/webp" && $0.name.hasSuffix("preview") ? "no animated WebP" : nil }
  ) { output in
    let run = try await decode(output.path)
    return run.findings + difference("frames", run.frames, output.frames ?? 1)
  }

  /// The ffmpeg command with `-c copy`: copies as byte stream (ITU-T H.264 annex B), ADTS and MPEG-TS, and back to MP4,
  /// must decode as well.
  static let copies = Checker("ffmpeg -c copy", reads: ["video/mp4"]) { output in
    let copy = output.path
    // The filter is explicit: without it FFmpeg 5.1 takes the length of a first unit of 256 to 511 bytes, which starts
    // with 0, 0, 1, for a start code, and does not convert lengths. Its MPEG-TS muxer reads the configuration instead.
    var arguments = [
      "-i", output.path, "-map", "0:v", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "\(copy).h264",
    ]
    if output.audioSeconds != nil { arguments += ["-map", "0:a", "-c", "copy", "-f", "adts", "\(copy).aac"] }
    let copied = try await ffmpeg(arguments + ["-map", "0", "-c", "copy", "-f", "mpegts", "\(copy).ts"])
    let back = try await ffmpeg(["-i", "\(copy).ts", "-map", "0", "-c", "copy", "\(copy).ts.mp4"])
    var findings = copied.findings + back.findings
    for form in ["h264", "ts", "ts.mp4"] {
      let run = try await decode("\(copy).\(form)")
      findings += (run.findings + difference("frames", run.frames, output.frames)).map { "\(form): \($0)" }
    }
    if output.audioSeconds != nil { findings += try await decode("\(copy).aac").findings.map { "aac: \($0)" } }
    return findings
  }

  private static func decode(_ path: String) async throws -> Program {
    try await ffmpeg(["-i", path, "-map", "0", "-fps_mode", "passthrough", "-f", "framecrc", "-"])
  }

  private static func ffmpeg(_ arguments: [String]) async throws -> Program {
    try await Program.run(
      "ffmpeg", ["-nostdin", "-y", "-v", "error", "-xerror", "-err_detect", "explode", "-threads", "1"] + arguments)
  }
}

extension Program {
  /// The number of video frames in the output of `-f framecrc`: one line for each, which starts with the stream's index.
  fileprivate var frames: Int {
    let streams = output.split(separator: "\n").filter { $0.hasPrefix("#media_type ") && $0.hasSuffix(" video") }
    let video = streams.first?.dropFirst("#media_type ".count).prefix { $0 != ":" } ?? "none"
    return output.split(separator: "\n").count { $0.hasPrefix("\(video),") }
  }
}

extension Checker {
  /// Cisco's H.264 decoder with GStreamer's demuxer and parser.
  ///
  /// The elements are named, so that GStreamer does not choose another decoder.
  static let openh264 = Checker("openh264", reads: ["video/mp4"]) { output in
    let run = try await gstreamer(
      output, ["d.video_0", "!", "h264parse", "!", "openh264dec", "!", "checksumsink", "sync=false"])
    // One line for each frame, with its timestamp and hash.
    let frames = run.output.split(separator: "\n").count { $0.split(separator: " ").last?.count == 40 }
    return run.findings + difference("frames", frames, output.frames)
  }

  /// The AAC decoder FAAD2 with GStreamer's demuxer and parser.
  static let faad = Checker("faad", reads: ["video/mp4"], limit: { $0.audioSeconds == nil ? "no audio" : nil }) {
    output in
    let samples = "\(output.path).pcm"
    let run = try await gstreamer(
      output,
      [
        "d.audio_0", "!", "aacparse", "!", "faad", "!", "audioconvert", "!", "audioresample", "!",
        "audio/x-raw,format=U8,channels=1,rate=48000", "!", "filesink", "location=\(samples)",
      ])
    let count = try await Program.run("stat", ["--format=%s", samples])
    let seconds = Double(count.output.filter { $0 != "\n" }).map { $0 / 48_000 }
    // faad drops the first and the last AAC frame, and qtdemux ends early by the part that the edit list skips.
    let tolerance = 0.01 + 4 * output.audioFrameSeconds
    return run.findings + difference("seconds of audio", seconds, output.audioSeconds, within: tolerance)
  }

  /// The environment with GStreamer's plugin registry. The first process fills the registry and prints warnings about
  /// missing hardware; it runs before any check, so that these are not findings.
  private static let registry = Task {
    let environment = ["GST_REGISTRY": "\(OutputFolder.path)/gstreamer-registry.bin"]
    _ = try await Program.run("gst-inspect-1.0", ["--exists", "openh264dec"], environment: environment)
    return environment
  }

  private static func gstreamer(_ output: Output, _ elements: [String]) async throws -> Program {
    let environment = try await registry.value
    var run = try await Program.run(
      "gst-launch-1.0", ["filesrc", "location=\(output.path)", "!", "qtdemux", "name=d"] + elements,
      // Warnings are findings, except those of boxes that qtdemux ignores.
      environment: environment.merging(
        ["GST_DEBUG": "*:2,qtdemux:1,basesrc:1", "GST_DEBUG_NO_COLOR": "1"]
      ) { $1 })
    // Messages for every valid file with audio: faad delays a frame, converts mono to stereo, and so on.
    let usual = ["still 1 frames left after draining", "buggy faad version", "can't find exact taps"]
    run.errors.removeAll { line in usual.contains { line.contains($0) } }
    // Removes time, process, thread and level.
    run.errors = run.errors.map { $0.split(separator: " ").dropFirst(4).joined(separator: " ") }
    return run
  }
}

extension Checker {
  /// libjpeg-turbo's djpeg; `-strict` makes warnings errors.
  static let djpeg = Checker("djpeg", reads: ["image/jpeg"]) { output in
    try await Program.run("djpeg", ["-strict", "-outfile", "/dev/null", output.path]).findings
  }

  /// libwebp's webpinfo, which parses all chunks and bitstreams.
  static let webpinfo = Checker("webpinfo", reads: ["image/webp"]) { output in
    let run = try await Program.run("webpinfo", ["-diag", output.path])
    let lines = run.output.split(separator: "\n")
    let messages = lines.filter { $0.hasPrefix("Error") || $0.hasPrefix("Warning") }.map(String.init)
    return run.findings + messages
      + (lines.contains("No error detected.") ? [] : ["does not report 'No error detected.'"])
  }

  /// libavif's decoder, which checks conformance to MIAF (ISO/IEC 23000-22) more strictly than libheif, which writes
  /// the files.
  static let avifdec = Checker("avifdec", reads: ["image/avif"]) { output in
    let run = try await Program.run("avifdec", ["--jobs", "1", output.path, "\(output.path).png"])
    return run.findings + (run.output.contains("WARNING") ? [run.output] : [])
  }

  /// libvips, which stops at the first warning of a format's library.
  static let vips = Checker("vips", reads: ["image/jpeg", "image/webp", "image/avif"]) { output in
    let pages = output.type == "image/webp" ? ",n=-1" : ""
    // libvips' own warnings, unlike those of the libraries, are about metadata that it ignores.
    let environment = ["VIPS_WARNING": "off"]
    let arguments = ["avg", "\(output.path)[fail-on=warning\(pages)]"]
    return try await Program.run("vips", arguments, environment: environment).findings
  }
}
