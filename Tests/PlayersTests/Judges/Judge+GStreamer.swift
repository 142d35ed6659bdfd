extension Judge {
  /// Cisco's H.264 decoder behind GStreamer's demultiplexer and parser.
  ///
  /// Elements are named, so that no other decoder can take the place of this one.
  static let openh264 = Judge("openh264", reads: ["video/mp4"]) { output in
    let run = try await gstreamer(
      output, ["d.video_0", "!", "h264parse", "!", "openh264dec", "!", "checksumsink", "sync=false"])
    // A line for each frame: its time and its hash.
    let frames = run.output.split(separator: "\n").count { $0.split(separator: " ").last?.count == 40 }
    return run.findings + difference("frames", frames, output.frames)
  }

  /// The AAC decoder FAAD2 behind GStreamer's demultiplexer and parser.
  static let faad = Judge("faad", reads: ["video/mp4"], limit: { $0.soundSeconds == nil ? "no sound" : nil }) {
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
    // faad keeps the first and the last AAC frame to itself, and qtdemux ends early by what the edit list skips.
    let tolerance = 0.01 + 4 * output.soundFrameSeconds
    return run.findings + difference("seconds of sound", seconds, output.soundSeconds, within: tolerance)
  }

  /// Where GStreamer keeps what it knows of its plugins. Whoever starts first fills it, and tells of hardware that is
  /// not there: that is said before a file is judged, and held against none.
  private static let registry = Task {
    let environment = ["GST_REGISTRY": "\(OutputFolder.path)/gstreamer-registry.bin"]
    _ = try await Program.run("gst-inspect-1.0", ["--exists", "openh264dec"], environment: environment)
    return environment
  }

  private static func gstreamer(_ output: Output, _ elements: [String]) async throws -> Program {
    let environment = try await registry.value
    var run = try await Program.run(
      "gst-launch-1.0", ["filesrc", "location=\(output.path)", "!", "qtdemux", "name=d"] + elements,
      // Warnings are findings, but those of boxes that qtdemux has no use for.
      environment: environment.merging(
        ["GST_DEBUG": "*:2,qtdemux:1,basesrc:1", "GST_DEBUG_NO_COLOR": "1"]
      ) { $1 })
    // What is said of every sound file that is right: faad holds a frame back, makes two channels of one, and so on.
    let usual = ["still 1 frames left after draining", "buggy faad version", "can't find exact taps"]
    run.errors.removeAll { line in usual.contains { line.contains($0) } }
    // Without time, process, thread and level.
    run.errors = run.errors.map { $0.split(separator: " ").dropFirst(4).joined(separator: " ") }
    return run
  }
}
