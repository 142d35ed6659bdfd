import Kernels
import Stills
import Synchronization

/// What was learnt of the ICC profiles that came last: phones write the same few into all of their photos.
final class ProfileCache: Sendable {
  static let shared = ProfileCache()
  private static let most = 8

  /// A profile of red, green and blue, or of grey.
  struct Entry: Sendable {
    /// What it is called.
    let name: String
    /// Nil where its colours are those of sRGB.
    let correction: ColorCorrection?
  }

  private let entries = Mutex<[(profile: [UInt8], entry: Entry)]>([])

  /// What is known of a profile, asked of LittleCMS the first time; nil for one of inks, or one that cannot be used.
  func entry(for bytes: [UInt8]) -> Entry? {
    if let known = entries.withLock({ entries in entries.first { $0.profile == bytes }?.entry }) { return known }
    guard let profile = try? ColorProfile(bytes), profile.space == .rgb || profile.space == .grey else { return nil }
    let correction = profile.isStandard ? nil : ColorCorrection { profile.convert($0) }
    let entry = Entry(name: profile.name, correction: correction)
    entries.withLock { entries in
      if entries.count == Self.most { entries.removeFirst() }
      entries.append((bytes, entry))
    }
    return entry
  }
}
