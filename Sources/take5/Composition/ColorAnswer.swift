import Model

/// How numbers mean colours, and whether they mean more than SDR can show.
struct ColorAnswer: Encodable {
  private let range: String?
  private let matrix: String?
  private let primaries: String?
  private let transfer: String?
  private let hdr: String?
  private let dolbyVisionProfile: Int?
  /// Of a photo; nil: none, which means sRGB.
  private let profile: String?

  private enum CodingKeys: CodingKey {
    case range, matrix, primaries, transfer, hdr, dolbyVisionProfile, profile
  }

  init(_ video: VideoFacts) {
    range = video.color.range
    matrix = video.color.matrix
    primaries = video.color.primaries
    transfer = video.color.transfer
    hdr = video.dynamicRange == .standard ? nil : video.dynamicRange.rawValue
    dolbyVisionProfile = video.dolbyVisionProfile
    profile = nil
  }

  init(_ photo: PhotoFacts) {
    (range, matrix, primaries, transfer, dolbyVisionProfile) = (nil, nil, nil, nil, nil)
    hdr = photo.dynamicRange == .standard ? nil : photo.dynamicRange.rawValue
    profile = photo.profile
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(range, forKey: .range)
    try container.encode(matrix, forKey: .matrix)
    try container.encode(primaries, forKey: .primaries)
    try container.encode(transfer, forKey: .transfer)
    try container.encode(hdr, forKey: .hdr)
    try container.encode(dolbyVisionProfile, forKey: .dolbyVisionProfile)
    try container.encode(profile, forKey: .profile)
  }
}
