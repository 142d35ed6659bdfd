internal import AV
import Glibc
internal import Model
internal import Platform

/// The lower bound for decoding with libavcodec and encoding with x264: a process that decodes both clips on one thread
/// and encodes frames that were composed beforehand.
struct Limit: Contestant {
  private let definition: Definition

  init(_ definition: Definition) { self.definition = definition }

  var name: String { "limit-\(definition.variant)" }
  let title = "limit"

  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant {
    let description = "\(folder)/definition.json"
    try Descriptor(writing: description, replacing: true).write(JSON.encode(definition))
    let frames = try workbench.reference(for: definition)
    let command = Command(
      path: workbench.programs.bench,
      arguments: [
        LimitProcess.command, workbench.footage.back, workbench.footage.front, frames.path, description,
      ],
      log: "\(folder)/report.json")
    return PreparedContestant(commands: [command]) {
      let report = try Descriptor(reading: command.log).contents()
      return try JSON.decode(LimitReport.self, from: report).loadingSeconds
    }
  }
}

/// The process of the limit: this program, started with an internal command.
enum LimitProcess {
  /// The first argument; then follow both clips, the composed frames and the definition.
  static let command = "limit-process"

  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4 else { throw BenchError("\(command) is an internal command of the benchmark") }
    let definition = try JSON.decode(Definition.self, from: Descriptor(reading: arguments[3]).contents())
    var decoded = 0
    for clip in arguments.prefix(2) {
      try ClipDecoder(clip).forEach { _ in decoded += 1 }
    }
    let (encoded, loading) = try encode(arguments[2], definition)
    print(
      try JSON.text(LimitReport(loadingSeconds: loading, decodedFrames: decoded, encodedFrames: encoded)))
  }

  private static func encode(_ path: String, _ definition: Definition) throws -> (frames: Int, loading: Double) {
    let video = RawVideo(path: path, size: definition.canvas.size, framesPerSecond: definition.canvas.framesPerSecond)
    let reader = try RawVideoReader(video)
    let encoder = try VideoEncoder(settings(of: definition))
    let frame = try Frame(width: video.size.width, height: video.size.height, format: .yuv420p)
    let packet = try Packet()
    var (count, loading) = (0, 0.0)
    while true {
      let start = usedProcessorTime()
      // The encoder may still refer to the previous frame.
      try frame.makeWritable()
      let hasFrame = try reader.next(into: frame.imagePlanes)
      loading += usedProcessorTime() - start
      guard hasFrame else { break }
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
    guard let video = definition.outputs[.composed]?.composed?.video else {
      throw BenchError("the definition has no composed output")
    }
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

/// The result that the process of the limit prints.
struct LimitReport: Codable {
  /// The CPU time of reading the frames, which a process that composes them does not spend.
  let loadingSeconds: Double
  let decodedFrames: Int
  let encodedFrames: Int
}
