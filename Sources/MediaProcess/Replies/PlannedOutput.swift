import ISOBaseMedia
import Model

/// What a plan determines about one output, for a comparison with the reply and with the headers of the file.
struct PlannedOutput: Hashable {
  let role: Role
  /// The media type.
  let type: String
  /// The upright size.
  let size: Size
  /// The size and the transform of coded frames; a still is coded upright.
  var coded: Size
  var transform = Transform.identity
  /// Whether the frames are copied: what their container said of their size may differ from what they say.
  var isCopied = false
  /// The possible durations; nil for one image.
  var seconds: ClosedRange<Double>?
  /// Whether the reply has a ThumbHash for it.
  var hasThumbHash = false

  init(_ role: Role, type: String, size: Size) {
    self.role = role
    self.type = type
    self.size = size
    coded = size
  }

  // Times are rounded to ticks, and limits on durations are compared after rounding.
  private static let rounding = 0.01
  // One frame; clips with fewer frames in a second are damaged or have been paused.
  private static let maxFrame = 1.0

  /// Checks what a reply says about the output, and that the headers of the file confirm it.
  func check(_ facts: OutputFacts, in file: RequestFile, as field: ReplyField) throws(MediaFailure) {
    try field["type"].require(facts.type, among: [type])
    try field["bytes"].require(facts.bytes == file.count, "is \(facts.bytes); the file has \(file.count)")
    try field["size"].require(
      facts.width == size.width && facts.height == size.height,
      "is \(facts.width)x\(facts.height); the plan's is \(size.width)x\(size.height)")
    try field["thumbhash"].require(thumbHash: facts.thumbhash, isPresent: hasThumbHash)
    try field["duration"].require((facts.duration == nil) == (seconds == nil), "is unexpected or missing")
    try field["loudness_lufs"].require(facts.loudnessLufs == nil || type == "video/mp4", "is unexpected")
    try field["loudness_lufs"].require(facts.loudnessLufs, in: ReplyField.loudness)
    if type == "video/mp4" {
      try checkMovie(facts, in: file, as: field)
    } else {
      try checkImage(facts, in: file, as: field)
    }
  }

  private func checkMovie(_ facts: OutputFacts, in file: RequestFile, as field: ReplyField) throws(MediaFailure) {
    let header = try MovieHeader.read(size: file.count) { (offset, count) throws(MediaFailure) in
      try file.bytes(at: offset, count: count)
    }
    guard let header else {
      return try field["file"].require(false, "is not an MP4 as the writers of this program make it")
    }
    try field["size"].require(
      (isCopied ? header.coded.contains(coded) : header.coded == [coded]) && header.transform == transform,
      "is not that of the file, whose frames have \(Self.text(header.coded)), \(header.transform.summary)")
    guard let duration = facts.duration, let seconds else { return }
    let frame = min(header.maxFrameSeconds, Self.maxFrame) + Self.rounding
    try field["duration"].require(
      duration, in: max(0, seconds.lowerBound - frame)...seconds.upperBound + frame)
    try field["duration"].require(
      abs(duration - header.seconds) <= header.maxFrameSeconds + Self.rounding,
      "is \(duration); the header of the file says \(header.seconds)")
  }

  private func checkImage(_ facts: OutputFacts, in file: RequestFile, as field: ReplyField) throws(MediaFailure) {
    guard let header = try ImageHeader.read(file, type: type) else {
      return try field["file"].require(false, "is not of type \(type) as the writers of this program make it")
    }
    try field["size"].require(
      header.sizes.contains(coded), "is not that of the file, which has \(Self.text(header.sizes))")
    guard let duration = facts.duration, let seconds else {
      return try field["type"].require(header.seconds == nil, "is that of an image; the file is an animation")
    }
    try field["duration"].require(
      duration, in: max(0, seconds.lowerBound - Self.rounding)...seconds.upperBound + Self.rounding)
    // Frames that do not differ are one frame: an animation can end as an image without a duration.
    guard let written = header.seconds else { return }
    try field["duration"].require(
      abs(duration - written) <= seconds.lowerBound + Self.rounding,
      "is \(duration); the header of the file says \(written)")
  }

  private static func text(_ sizes: Set<Size>) -> String {
    sizes.map { "\($0.width)x\($0.height)" }.sorted().joined(separator: " or ")
  }
}

extension Plan {
  /// What the plan determines about each of `outputs`.
  var plannedOutputs: [PlannedOutput] {
    let composed = compositions.map { plan in
      var output = PlannedOutput(plan.role, type: "video/mp4", size: plan.canvas.size)
      output.seconds = plan.seconds.shortest...plan.seconds.longest
      return output
    }
    let rendition = rendition.map { plan in
      var output = PlannedOutput(plan.role, type: "video/mp4", size: plan.size)
      output.seconds = composed.first?.seconds
      return output
    }
    let clips = clips.map { plan in
      var output = PlannedOutput(plan.role, type: "video/mp4", size: plan.size)
      output.seconds = limits.usedSeconds.map { $0.shortest...$0.longest }
      // Copied frames stay as the input has them.
      if plan.mode == .remux, let video = inputs[plan.input]?.facts.video {
        output.isCopied = true
        output.coded = video.coded
        output.transform = video.transform
      }
      return output
    }
    let stills = stills.map { plan in
      var output = PlannedOutput(plan.role, type: "image/jpeg", size: plan.size)
      output.hasThumbHash = true
      return output
    }
    let preview = preview.map { plan in
      var output = PlannedOutput(plan.role, type: "image/webp", size: plan.size)
      // A clip that ends early gives fewer frames, at least one.
      let frame = 1 / Double(max(1, plan.framesPerSecond))
      output.seconds = frame...frame * Double(max(1, plan.frames))
      return output
    }
    return composed + [rendition].compactMap(\.self) + clips + stills + [preview].compactMap(\.self)
  }
}

extension PhotoPlan {
  /// What the plan determines about each of `outputs`, for a photo that is decoded to this upright size.
  ///
  /// - Parameter hasPreview: whether it is an animation of which the preview shows several images.
  func plannedOutputs(of photo: Size, hasPreview: Bool) -> [PlannedOutput] {
    let planned = variantRoles.compactMap { role in
      variants[role].map { variant in
        PlannedOutput(role, type: (variant.format ?? .jpeg).type, size: variant.geometry(of: photo).size)
      }
    }
    guard hasPreview, let preview else { return planned }
    var output = PlannedOutput(.photoPreview, type: PhotoPreview.type, size: photo.within(longEdge: preview.longEdge))
    output.seconds = 0...Double(PhotoPreview.maxMilliseconds) / 1000
    return planned + [output]
  }
}
