import Kernels
import Synchronization

/// The corrections that were computed last: phones write the same few profiles into all of their photos.
final class CorrectionCache: Sendable {
  static let shared = CorrectionCache()
  private static let most = 8

  private let entries = Mutex<[(profile: [UInt8], correction: ColorCorrection)]>([])

  /// The correction for a profile, computed where it is not there yet.
  func correction(for profile: [UInt8], _ map: ([UInt16]) -> [UInt16]) -> ColorCorrection {
    let known = entries.withLock { entries in entries.first { $0.profile == profile }?.correction }
    if let known { return known }
    let correction = ColorCorrection(map)
    entries.withLock { entries in
      if entries.count == Self.most { entries.removeFirst() }
      entries.append((profile, correction))
    }
    return correction
  }
}
