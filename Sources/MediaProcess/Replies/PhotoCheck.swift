import Model

/// Checks the reply to a request to run a plan for one photo.
struct PhotoCheck {
  let plan: PhotoPlan
  /// The length of the photo in bytes.
  let bytes: Int64
  let outputs: [Role: RequestFile]

  /// The report with cleaned texts, if the plan can have it and its outputs are as it says.
  func checked(_ report: PhotoReport) throws(MediaFailure) -> PhotoReport {
    let isAccepted = report.reason == nil
    if let reason = report.reason {
      let field = ReplyField("reason")
      try field["input"].require(reason.input == .photo, "is not the photo")
      try reason.check(as: field, inputs: [.photo: bytes])
    }
    try ReplyField("facts").require((report.facts != nil) == isAccepted, isAccepted ? "are missing" : "are unexpected")
    try report.facts?.check(as: ReplyField("facts"), limits: plan.limits, bytes: bytes)
    try report.decisions.check(as: ReplyField("decisions"), inputs: [.photo])
    try ReplyField("thumbhash").require(thumbHash: report.thumbhash, isPresent: isAccepted)
    let color = ReplyField("dominant_color")
    try color.require((report.dominantColor != nil) == isAccepted, isAccepted ? "is missing" : "is unexpected")
    try color.require(report.dominantColor.map(Self.isColor) ?? true, "is not a colour")
    let planned = report.facts.map { plan.plannedOutputs(of: plan.limits.decoded($0.display)) } ?? []
    try OutputsCheck(planned: planned, files: outputs).check(report.outputs, as: ReplyField("outputs"))
    var cleaned = report
    cleaned.reason = report.reason?.cleaned
    cleaned.facts = report.facts?.cleaned
    cleaned.decisions = report.decisions.map(\.cleaned)
    return cleaned
  }

  /// Whether a text is a colour as `#rrggbb`.
  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#") && text.utf8.dropFirst().allSatisfy(\.isHexDigit)
  }
}

extension PhotoFacts {
  private static let models = ["grey", "YCbCr", "RGB", "CMYK"]

  /// Fails if a value is impossible for a photo of this length that the limits accept.
  fileprivate func check(as field: ReplyField, limits: PhotoLimits, bytes: Int64) throws(MediaFailure) {
    try field["format"].require(format.rawValue, among: limits.formats.map(\.rawValue))
    try field["bytes"].require(self.bytes == bytes, "is \(self.bytes); the photo has \(bytes)")
    let pixels = format == .jpeg ? max(limits.pixels, limits.headerPixels ?? 0) : limits.pixels
    try field["display"].require(pixels: display, atMost: pixels)
    let upright = transform.swapsAxes ? Size(width: coded.height, height: coded.width) : coded
    try field["coded"].require(
      upright == display, "is \(coded.width)x\(coded.height), which is not the upright size before its transform")
    // libheif says -1 of a file that does not say it.
    try field["bits"].require(bits, in: -1...32)
    try field["model"].require(model, among: Self.models)
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
  }
}
