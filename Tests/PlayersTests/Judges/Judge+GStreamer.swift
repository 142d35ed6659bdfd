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
    // Whole AAC frames are decoded, which the edit list may begin and end inside of.
    return run.findings + difference("seconds of sound", seconds, output.soundSeconds, within: 0.06)
  }

  private static func gstreamer(_ output: Output, _ elements: [String]) async throws -> Program {
    try await Program.run(
      "gst-launch-1.0", ["filesrc", "location=\(output.path)", "!", "qtdemux", "name=d"] + elements,
      environment: [
        // Warnings are findings. Some elements warn of what is right: qtdemux of boxes that it has no use for, faad of mono.
        "GST_DEBUG": "*:2,qtdemux:1,basesrc:1,faad:1,audiodecoder:1", "GST_DEBUG_NO_COLOR": "1",
      ])
  }
}
