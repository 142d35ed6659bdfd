import AV
import ISOBaseMedia

/// Finds what keeps the frames of a clip from being copied: a copy is played by decoders that forgive nothing.
///
/// Decoding has to begin at the first sample with nothing in front of it, parameter sets have to stand in `avcC` alone, and
/// each sample has one time. What fails here is sound all the same, and is encoded.
struct CopyCheck {
  /// Why the frames cannot be copied; nil: nothing was found yet.
  private(set) var obstacle: String?
  private let configuration: AVCConfiguration?
  private var lastDecodingTime: Int64?
  private var isHiding = false

  init(_ stream: StreamInfo) {
    configuration = AVCConfiguration(stream.configuration)
    if configuration == nil { obstacle = "its configuration is not one of H.264 that strict players take" }
  }

  /// Looks at the next packet in the order of decoding.
  mutating func take(_ packet: borrowing Packet) {
    guard obstacle == nil, let configuration else { return }
    guard let pts = packet.pts, let dts = packet.dts, pts >= dts, lastDecodingTime.map({ $0 < dts }) ?? true else {
      obstacle = "its packets' times do not grow, as its edit list shows them"
      return
    }
    if packet.isDiscarded {
      // What is hidden at the end is left out of a copy; what is hidden before has to be decoded.
      isHiding = true
      if lastDecodingTime == nil { obstacle = "its edit list begins between sync samples" }
      return
    }
    if isHiding {
      obstacle = "its edit list hides frames that others need"
      return
    }
    let units = AVCSample(packet, configuration)
    if !units.isWhole {
      obstacle = "its samples do not consist of NAL units behind their lengths"
    } else if units.hasForeignParameterSets {
      obstacle = "its parameter sets change between its frames"
    } else if units.hasRareSlices || units.frameBytes == 0 {
      obstacle = "its frames are coded in a way that few decoders know"
    } else if lastDecodingTime == nil && !units.isRefresh {
      obstacle = "it begins with a frame at which strict decoders do not begin"
    }
    lastDecodingTime = dts
  }
}

/// What the NAL units of one sample of H.264 are.
struct AVCSample {
  /// Whether the lengths add up.
  private(set) var isWhole = false
  /// Whether decoding can begin here with nothing before it.
  private(set) var isRefresh = false
  private(set) var hasForeignParameterSets = false
  private(set) var hasRareSlices = false
  /// Of the slices, with a length of four bytes in front of each.
  private(set) var frameBytes = 0
  /// Whether there is more than slices.
  private(set) var hasMore = false

  init(_ packet: borrowing Packet, _ configuration: AVCConfiguration) {
    packet.withBytes { bytes in
      isWhole = AVCUnit.forEach(of: bytes, lengthBytes: configuration.lengthBytes) { unit in
        switch unit.kind {
        case .slice, .instantRefreshSlice:
          frameBytes += 4 + unit.bytes.count
          if unit.kind == .instantRefreshSlice { isRefresh = true }
        case .rareSlice: hasRareSlices = true
        case .sequenceParameterSet, .pictureParameterSet:
          hasMore = true
          if !configuration.contains(unit.bytes) { hasForeignParameterSets = true }
        case .supplement, .other: hasMore = true
        }
      }
    }
  }
}
