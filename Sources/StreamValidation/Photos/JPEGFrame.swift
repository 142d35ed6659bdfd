internal import Model

/// What the markers of a JPEG say about its image, and for what they are refused: by libjpeg, or beyond a limit.
struct JPEGFrame: Sendable {
  // As in `JPEGLimits.maxScans`; edges as in libjpeg's JPEG_MAX_DIMENSION.
  private static let maxScans = 64
  private static let maxEdge = 65_500
  private static let maxComponents = 10

  /// Whether the header has ended: bytes between markers are data of a scan.
  private(set) var isInScan = false
  private let limits: PhotoLimits
  /// The number of pixels; nil before the frame header.
  private var pixels: Int?
  private var components = 0
  private var hasSeveralScans = false
  private var scans = 0

  init(_ limits: PhotoLimits) { self.limits = limits }

  /// Whether a marker has a segment, which begins with its length.
  static func hasSegment(_ marker: UInt8) -> Bool {
    switch marker {
    case 0xC0...0xCF, 0xDA...0xDD, 0xE0...0xEF, 0xFE: true
    default: false
    }
  }

  /// Whether the content of a segment is judged.
  func isJudged(_ marker: UInt8) -> Bool { !isInScan && (Self.isFrame(marker) || marker == 0xDA) }

  static func damaged(_ finding: String) -> Reason {
    Reason(.corruptImage, input: .photo, finding: "its JPEG data are damaged (\(finding))")
  }

  static func unsupported(_ finding: String) -> Reason {
    Reason(.unsupportedCodec, input: .photo, finding: "its kind of JPEG is not supported (\(finding))")
  }

  /// The frame headers of processes that libjpeg decodes: baseline, extended and progressive, Huffman and arithmetic.
  private static func isFrame(_ marker: UInt8) -> Bool { [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(marker) }

  /// The reason for which a marker is refused, whatever follows it.
  mutating func reason(marker: UInt8) -> Reason? {
    if isInScan {
      guard marker == 0xDA else { return nil }
      scans += 1
      return hasSeveralScans && scans > Self.maxScans ? .tooManyScans : nil
    }
    switch marker {
    case _ where Self.isFrame(marker): return pixels == nil ? nil : Self.damaged("two frame headers")
    // Differential and lossless processes; 0xC4 and 0xCC are tables.
    case 0xC3, 0xC5...0xCB, 0xCD...0xCF: return Self.unsupported("its process is SOF\(marker & 0xF)")
    case 0xD8: return Self.damaged("a second start of the image")
    case 0xD9: return Self.damaged("no scan")
    case 0xDA: return pixels == nil ? Self.damaged("a scan without a frame header") : nil
    case 0x01, 0xD0...0xD7: return nil
    default: return Self.hasSegment(marker) && !(0xDE...0xDF).contains(marker) ? nil : Self.damaged("an unknown marker")
    }
  }

  /// The reason for which a segment of this length, which counts the length itself, is refused.
  func reason(marker: UInt8, length: Int) -> Reason? {
    guard !isInScan else { return nil }
    let minLength =
      switch marker {
      case _ where Self.isFrame(marker): 8
      case 0xDA: 6
      case 0xC4, 0xCC, 0xDB, 0xDD: 2
      // libjpeg passes over other segments, even if they are shorter than their length.
      default: 0
      }
    return length < minLength ? Self.damaged("a segment of \(length) bytes") : nil
  }

  /// Takes the content of a segment that is judged.
  mutating func take(_ marker: UInt8, _ content: [UInt8]) -> Reason? {
    marker == 0xDA ? takeScan(content) : takeFrame(content, isProgressive: marker == 0xC2 || marker == 0xCA)
  }

  /// Takes a frame header (B.2.2).
  private mutating func takeFrame(_ content: [UInt8], isProgressive: Bool) -> Reason? {
    let bits = Int(content[0])
    let (height, width) = (Int(content[1]) << 8 | Int(content[2]), Int(content[3]) << 8 | Int(content[4]))
    components = Int(content[5])
    guard width > 0, height > 0, components > 0 else { return Self.damaged("an image without pixels") }
    guard content.count == 6 + 3 * components else { return Self.damaged("a frame header of another length") }
    if max(width, height) > Self.maxEdge { return .tooManyPixels(limits) }
    if bits != 8 { return Self.unsupported("its samples have \(bits) bits") }
    if components > Self.maxComponents { return Self.damaged("\(components) components") }
    let factors = stride(from: 7, to: content.count, by: 3).map { content[$0] }
    guard factors.allSatisfy({ (1...4).contains($0 >> 4) && (1...4).contains($0 & 15) }) else {
      return Self.damaged("impossible sampling factors")
    }
    let pixels = width * height
    self.pixels = pixels
    hasSeveralScans = isProgressive
    if pixels > limits.pixels || isProgressive && pixels > limits.progressivePixels { return .tooManyPixels(limits) }
    return [1, 3, 4].contains(components) ? nil : Self.unsupported("it has \(components) components")
  }

  /// Takes the header of the first scan (B.2.3).
  private mutating func takeScan(_ content: [UInt8]) -> Reason? {
    let count = Int(content[0])
    guard (1...4).contains(count), content.count == 4 + 2 * count else {
      return Self.damaged("a scan header of another length")
    }
    isInScan = true
    scans = 1
    if count < components { hasSeveralScans = true }
    return hasSeveralScans && pixels ?? 0 > limits.progressivePixels ? .tooManyPixels(limits) : nil
  }
}
