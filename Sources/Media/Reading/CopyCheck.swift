import AV
import ISOBaseMedia

/// Checks whether the coded frames of a clip can be copied into a file that strict decoders play.
///
/// Decoding must start at the first sample, parameter sets must be in `avcC` alone, and timestamps must increase as the
/// pictures do. A clip that fails the check is valid; it is encoded instead.
struct CopyCheck: ~Copyable {
  /// The reason why the frames cannot be copied; nil if none was found in the packets so far.
  private(set) var obstacle: String?
  private let configuration: AVCConfiguration?
  private var lastDecodingTime: Int64?
  private var hasHiddenFrames = false
  private let order: PictureOrder?
  /// The coded pictures: the number of their sequence, which an IDR frame begins, their place in it, and when they are shown.
  private var pictures: [(sequence: Int, place: Int, time: Int64)] = []

  init(stream index: Int, of demuxer: borrowing Demuxer) {
    configuration = AVCConfiguration(demuxer.streams[index].configuration)
    order = PictureOrder(stream: index, of: demuxer)
    if configuration == nil { obstacle = "its configuration is not one of H.264 that strict players take" }
  }

  /// Checks the next packet in decoding order.
  mutating func take(_ packet: borrowing Packet) {
    guard obstacle == nil, let configuration else { return }
    guard let pts = packet.pts, let dts = packet.dts, pts >= dts, lastDecodingTime.map({ $0 < dts }) ?? true else {
      obstacle = "its packets' times do not grow, as its edit list shows them"
      return
    }
    if packet.isDiscarded {
      // A copy omits frames that the edit list hides at the end; hidden frames before them must be decoded.
      hasHiddenFrames = true
      if lastDecodingTime == nil { obstacle = "its edit list begins between sync samples" }
      return
    }
    if hasHiddenFrames {
      obstacle = "its edit list hides frames that others need"
      return
    }
    let units = AVCSample(packet, configuration)
    if !units.isComplete {
      obstacle = "its samples do not consist of NAL units behind their lengths"
    } else if units.hasOtherParameterSets {
      obstacle = "its parameter sets change between its frames"
    } else if units.hasRareSlices || units.frameBytes == 0 {
      obstacle = "its frames are coded in a way that few decoders know"
    } else if lastDecodingTime == nil && !units.isRefresh {
      obstacle = "it begins with a frame at which strict decoders do not begin"
    }
    lastDecodingTime = dts
    guard let place = order?.count(of: packet) else {
      obstacle = "the order of its frames cannot be read"
      return
    }
    pictures.append(((pictures.last?.sequence ?? 0) + (units.isRefresh ? 1 : 0), place, pts))
  }

  /// Compares the order of times with the order of pictures, after the last packet.
  ///
  /// - Parameter count: the number of packets that are copied; nil: all. What others show is no obstacle.
  mutating func finish(first count: Int?) {
    if let count, pictures.count >= count {
      pictures.removeLast(pictures.count - count)
      obstacle = nil
    }
    guard obstacle == nil else { return }
    pictures.sort { $0.time < $1.time }
    let isOrdered = zip(pictures, pictures.dropFirst()).allSatisfy {
      $0.time < $1.time && ($0.sequence, $0.place) < ($1.sequence, $1.place)
    }
    if !isOrdered { obstacle = "the times of its frames are not in their order" }
  }
}

/// The kinds of NAL units in one sample of H.264.
struct AVCSample {
  /// Whether the NAL units and their lengths fill the sample exactly.
  private(set) var isComplete = false
  /// Whether it is an IDR frame.
  private(set) var isRefresh = false
  /// Whether it holds parameter sets that `avcC` does not have.
  private(set) var hasOtherParameterSets = false
  private(set) var hasRareSlices = false
  /// The size of the slices, with a length prefix of four bytes each.
  private(set) var frameBytes = 0
  /// Whether it holds NAL units other than slices.
  private(set) var hasOtherUnits = false

  init(_ packet: borrowing Packet, _ configuration: AVCConfiguration) {
    packet.withBytes { bytes in
      isComplete = NALUnit.forEach(of: bytes, lengthBytes: configuration.lengthBytes) { unit in
        switch unit.kind {
        case .slice, .idrSlice:
          frameBytes += 4 + unit.bytes.count
          if unit.kind == .idrSlice { isRefresh = true }
        case .otherSlice: hasRareSlices = true
        case .sequenceParameterSet, .pictureParameterSet:
          hasOtherUnits = true
          if !configuration.contains(unit.bytes) { hasOtherParameterSets = true }
        case .sei, .other: hasOtherUnits = true
        }
      }
    }
  }
}
