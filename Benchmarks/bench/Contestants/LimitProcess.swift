internal import AV
import Glibc
internal import Model
internal import Platform

/// The process of the limit: this program, started with a word that is not for people.
enum LimitProcess {
  /// Its first argument; then come both clips, the composed pictures and the definition.
  static let word = "limit-process"

  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4 else { throw BenchError("\(word) is started by the benchmark alone") }
    let definition = try JSON.decode(Definition.self, from: Descriptor(reading: arguments[3]).contents())
    var decoded = 0
    for clip in arguments.prefix(2) {
      try ClipDecoder(clip).forEach { _ in decoded += 1 }
    }
    let (encoded, loading) = try encode(arguments[2], definition)
    print(
      try JSON.text(LimitReport(loadingSeconds: loading, decodedPictures: decoded, encodedPictures: encoded)))
  }

  private static func encode(_ path: String, _ definition: Definition) throws -> (pictures: Int, loading: Double) {
    let video = RawVideo(path: path, size: definition.canvas.size, framesPerSecond: definition.canvas.framesPerSecond)
    let pictures = try RawVideoReader(video)
    let encoder = try VideoEncoder(settings(of: definition))
    let frame = try Frame(width: video.size.width, height: video.size.height, format: .yuv420p)
    let packet = try Packet()
    var (count, loading) = (0, 0.0)
    while true {
      let start = usedProcessorTime()
      // The encoder may have kept a reference to the picture before.
      try frame.makeWritable()
      let isThere = try pictures.next(into: frame.picture)
      loading += usedProcessorTime() - start
      guard isThere else { break }
      frame.pts = Int64(count)
      count += 1
      try encoder.send(frame)
      while try encoder.receive(into: packet) == .output {}
    }
    try encoder.finish()
    while try encoder.receive(into: packet) == .output {}
    return (count, loading)
  }

  private static func settings(of definition: Definition) throws -> VideoEncoderSettings {
    guard let video = definition.outputs.composed?.video else { throw BenchError("nothing is composed") }
    let rate = Int32(definition.canvas.framesPerSecond)
    return VideoEncoderSettings(
      encoder: "libx264",
      options: ["preset": video.preset, "crf": "\(video.crf)", "x264-params": video.x264Parameters],
      profile: "high", width: definition.canvas.width, height: definition.canvas.height,
      timeBase: Rational(1, rate), frameRate: Rational(rate, 1))
  }

  private static func usedProcessorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
