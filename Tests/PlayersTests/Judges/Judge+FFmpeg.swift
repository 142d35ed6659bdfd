extension Judge {
  /// The ffmpeg command, which counts every complaint of its demultiplexer and decoders as an error.
  static let ffmpeg = Judge(
    "ffmpeg", reads: ["video/mp4", "image/jpeg", "image/webp"],
    limit: { $0.type == "image/webp" && $0.name.hasSuffix("preview") ? "no animated WebP" : nil }
  ) { output in
    let run = try await decode(output.path)
    return run.findings + difference("frames", run.frames, output.frames ?? 1)
  }

  /// The ffmpeg command again: what it copies out of an output, into streams that have another form (ITU-T H.264 annex B,
  /// ADTS, MPEG-TS) and back into MP4, decodes as well.
  static let copies = Judge("ffmpeg -c copy", reads: ["video/mp4"]) { output in
    let copy = output.path
    // The filter by name: without it FFmpeg 5.1 takes a first unit of 256 to 511 bytes, whose length begins with 0, 0, 1,
    // for a start code and leaves all lengths as they are. Its MPEG-TS muxer asks the configuration instead.
    var words = [
      "-i", output.path, "-map", "0:v", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "\(copy).h264",
    ]
    if output.soundSeconds != nil { words += ["-map", "0:a", "-c", "copy", "-f", "adts", "\(copy).aac"] }
    let copied = try await ffmpeg(words + ["-map", "0", "-c", "copy", "-f", "mpegts", "\(copy).ts"])
    let back = try await ffmpeg(["-i", "\(copy).ts", "-map", "0", "-c", "copy", "\(copy).ts.mp4"])
    var findings = copied.findings + back.findings
    for form in ["h264", "ts", "ts.mp4"] {
      let run = try await decode("\(copy).\(form)")
      findings += (run.findings + difference("frames", run.frames, output.frames)).map { "\(form): \($0)" }
    }
    if output.soundSeconds != nil { findings += try await decode("\(copy).aac").findings.map { "aac: \($0)" } }
    return findings
  }

  private static func decode(_ path: String) async throws -> Program {
    try await ffmpeg(["-i", path, "-map", "0", "-fps_mode", "passthrough", "-f", "framecrc", "-"])
  }

  private static func ffmpeg(_ words: [String]) async throws -> Program {
    try await Program.run(
      "ffmpeg", ["-nostdin", "-y", "-v", "error", "-xerror", "-err_detect", "explode", "-threads", "1"] + words)
  }
}

extension Program {
  /// How many frames of the video `-f framecrc` told: a line for each, which begins with the number of the stream.
  fileprivate var frames: Int {
    let streams = output.split(separator: "\n").filter { $0.hasPrefix("#media_type ") && $0.hasSuffix(" video") }
    let video = streams.first?.dropFirst("#media_type ".count).prefix { $0 != ":" } ?? "none"
    return output.split(separator: "\n").count { $0.hasPrefix("\(video),") }
  }
}
