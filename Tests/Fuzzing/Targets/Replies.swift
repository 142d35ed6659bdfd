import Definitions
import Model

@testable import MediaProcess

extension FuzzTarget {
  static let replies = [reply, output]

  private static let clip = ClipFacts(
    container: .mp4, bytes: 1000, duration: 5,
    video: VideoFacts(
      stream: 0, codec: "h264", profile: "High", pixelFormat: "yuv420p", coded: Size(width: 640, height: 360),
      sampleAspectRatio: 1, transform: Transform(rotation: .quarter, mirrored: false),
      display: Size(width: 360, height: 640), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709")),
    audio: AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2), unusedStreams: [])
  private static let planner = Planner(definition)
  private static let plan = planner.plan(front: clip, back: clip, foreground: .front)
  private static let photoPlan = PhotoPlan(
    limits: PhotoLimits(bytes: 1 << 20, pixels: 1 << 20, progressivePixels: 1 << 20, formats: [.jpeg, .heif, .gif]),
    variants: [
      .photoLarge: PhotoVariant(longEdge: 200, quality: 80),
      .photoSmall: PhotoVariant(square: 50, quality: 80, format: .webp),
    ], preview: PhotoPreview(longEdge: 200, quality: 60))

  private static let definition: Definition = {
    do { return try Definitions.take5Post() } catch { fatalError("\(error)") }
  }()

  /// Encodes what passed the checks as it is stored.
  private static func store(_ value: some Encodable) {
    let text = try? JSON.encode(value)
    expect(text != nil, "a value that passes the checks and cannot be stored")
    expect(text.flatMap { try? JSON.canonical($0) } != nil, "a stored value without a hash")
  }

  /// The reply of a child, and behind the first NUL the content of each of its outputs.
  private static let reply = FuzzTarget("reply") { bytes in
    let (message, content) = bytes.halves
    let file = RequestFile(content)
    _ = try? Envelope<ServerReply>.decode(message)
    switch try Envelope<MediaReply>.decode(message) {
    case .probed(let report):
      let limits = plan.limits
      let checked = try ProbeCheck(limits: limits, inputs: [.front: 1000, .back: 1000]).checked(report)
      // What the checks accept is planned, and stored as JSON.
      store(checked.verdict)
      guard let front = checked.facts[.front], let back = checked.facts[.back] else { return }
      store(planner.plan(front: front, back: back, foreground: .back))
    case .progress(let fraction):
      var check = ProgressCheck()
      let accepted = try check.accept(fraction, after: .seconds(1))
      expect(accepted.map { 0...1 ~= $0 } ?? true, "an impossible fraction")
    case .result(let report):
      let files = Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, file) })
      store(try RunCheck(plan: plan, outputs: files).checked(report).verdict)
    case .photo(let report):
      let files = Dictionary(uniqueKeysWithValues: photoPlan.outputs.map { ($0, file) })
      store(try PhotoCheck(plan: photoPlan, bytes: 1000, outputs: files).checked(report))
    case .failure(let failure):
      _ = failure.reported(by: .run, MediaCrash.Limits(memory: 1, cpuSeconds: 1, fileSize: 1, deadlineSeconds: 1), [])
    }
  }

  /// A file that a child has written, by its headers.
  private static let output = FuzzTarget("output") { bytes in
    for type in ["image/jpeg", "image/webp", "image/avif"] {
      guard let header = try ImageHeader.read(RequestFile(bytes), type: type) else { continue }
      expect(header.seconds.map { $0 >= 0 } ?? true, "a negative duration")
    }
  }
}
