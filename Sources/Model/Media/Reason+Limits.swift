/// The reasons for media beyond a limit. The checks of a file that arrives and of one that has arrived share them.
extension Reason {
  /// The file is too long.
  ///
  /// - Parameter bytes: its length; nil if it is not known, because the rest has not arrived.
  package static func tooManyBytes(_ bytes: Int64?, limit: Int64, input: InputName) -> Reason {
    let length = bytes.map { "\($0)" } ?? "more than \(limit)"
    return Reason(
      .tooLarge, input: input, finding: "the file has \(length) bytes; at most \(limit) are accepted")
  }

  /// The frames of a clip have too many pixels.
  package static func tooManyPixels(_ size: Size, limit: Int, input: InputName) -> Reason {
    Reason(
      .tooLarge, input: input,
      finding: "its frames have \(size.width)x\(size.height) pixels; at most \(limit) in total are accepted")
  }

  /// A photo has too many pixels by its header.
  ///
  /// - Parameter size: the one that is declared; nil where the images that the photo consists of are too large together.
  package static func tooManyPixels(_ size: Size?, _ limits: PhotoLimits) -> Reason {
    let found =
      size.map { "its header declares \($0.width)x\($0.height) pixels" } ?? "it consists of images with too many pixels"
    return Reason(.tooLarge, input: .photo, finding: "\(found); at most \(limits.pixels) in total are accepted")
  }

  /// A JPEG in one scan has too many pixels by its header.
  package static func tooManyHeaderPixels(_ size: Size, _ limits: PhotoLimits) -> Reason {
    Reason(
      .tooLarge, input: .photo,
      finding: "its header declares \(size.width)x\(size.height) pixels; at most "
        + "\(limits.headerPixels ?? limits.pixels) in total are accepted")
  }

  /// A JPEG in several scans has too many pixels by its header.
  package static func tooManyProgressivePixels(_ size: Size, _ limits: PhotoLimits) -> Reason {
    let others = limits.headerPixels.map { "\($0) of a baseline JPEG" } ?? "\(limits.pixels) of any other photo"
    return Reason(
      .tooLarge, input: .photo,
      finding: "its header declares a progressive JPEG of \(size.width)x\(size.height) pixels; at most "
        + "\(min(limits.progressivePixels, limits.pixels)) in total are accepted of such a one, and \(others)")
  }

  /// A photo has an edge that is too long by its header.
  ///
  /// - Parameter limit: in pixels.
  package static func tooLongEdge(_ size: Size, limit: Int) -> Reason {
    Reason(
      .tooLarge, input: .photo,
      finding: "its header declares \(size.width)x\(size.height) pixels; an edge of at most \(limit) is accepted")
  }

  /// The container is of a family that is not accepted.
  package static func unsupported(_ family: ContainerName, accepted: [ContainerName], input: InputName) -> Reason {
    let names = accepted.map(\.rawValue).joined(separator: ", ")
    return Reason(
      .unsupportedContainer, input: input, finding: "it is a \(family.rawValue) file; \(names) is accepted")
  }

  /// A clip has too many streams.
  package static func tooManyStreams(_ count: Int, limit: Int, input: InputName) -> Reason {
    Reason(
      .unsupportedContainer, input: input, finding: "it has \(count) streams; at most \(limit) are accepted")
  }

  /// A clip lasts too long, or not long enough.
  package static func durationOutOfRange(_ seconds: Double, allowed: SecondsRange, input: InputName) -> Reason {
    durationOutOfRange(seconds.hundredths, allowed, input)
  }

  /// A clip lasts too long; only a part of it was read.
  package static func durationOutOfRange(
    moreThan seconds: Double, allowed: SecondsRange, input: InputName
  ) -> Reason {
    durationOutOfRange("more than \(seconds.hundredths)", allowed, input)
  }

  private static func durationOutOfRange(_ length: String, _ allowed: SecondsRange, _ input: InputName) -> Reason {
    Reason(
      .durationOutOfRange, input: input,
      finding: "it lasts \(length) s; \(allowed.shortest.hundredths) to \(allowed.longest.hundredths) s are accepted")
  }

  /// No video stream has a codec that is accepted.
  ///
  /// - Parameter found: the names of the codecs of the video streams.
  package static func unsupportedVideo(_ found: [String], accepted: [String], input: InputName) -> Reason {
    Reason(
      .unsupportedCodec, input: input,
      finding: "its video is \(found.joined(separator: ", ")); \(accepted.joined(separator: " or ")) is accepted")
  }

  /// The video is Dolby Vision that only Dolby's decoders show.
  package static func unviewableDolbyVision(profile: Int, input: InputName) -> Reason {
    Reason(
      .unsupportedCodec, input: input,
      finding: "its video is Dolby Vision profile \(profile), which has no base layer that other decoders show")
  }

  /// Frames of a clip lie beyond the end of the file.
  package static func missingFrames(_ count: Int, of all: Int, input: InputName) -> Reason {
    Reason(
      .truncatedContainer, input: input, finding: "\(count) of its \(all) frames lie beyond the end of the file")
  }

  /// A JPEG has very many scans, each of which costs a pass over all pixels.
  package static let tooManyScans = Reason(
    .corruptImage, input: .photo, finding: "it has more scans than any encoder writes")

  /// A photo ends too early.
  package static let truncatedPhoto = Reason(
    .truncatedContainer, input: .photo, finding: "the file ends before its image data")
}

extension Double {
  /// The number with at most two decimals and no trailing zeros; one that has no such digits, as files can state, as Swift writes it.
  package var hundredths: String {
    guard let hundredths = Int(exactly: (self * 100).rounded()) else { return "\(self)" }
    let (integer, rest) = (hundredths / 100, hundredths % 100)
    if rest == 0 { return "\(integer)" }
    return rest % 10 == 0 ? "\(integer).\(rest / 10)" : "\(integer).\(rest < 10 ? "0" : "")\(rest)"
  }
}
