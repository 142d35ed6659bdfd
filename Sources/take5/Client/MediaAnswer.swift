import Model

/// A post or an image as the API tells it, as far as the command line reads it.
struct MediaAnswer: Decodable {
  /// How far it is; an image can be replaced by a later one before it is looked at.
  enum Status: String, Decodable {
    case processing
    case ready
    case rejected
    case failed
    case replaced
  }

  /// One file of it.
  struct Asset: Decodable {
    let url: String
    let type: String
    let bytes: Int64
    let width: Int?
    let height: Int?
    let duration: Double?
  }

  let id: PublicID
  let status: Status
  let reasons: [Reason]
  let job: JobAnswer?
  let assets: [Role: Asset]
  /// Of a post of photos, each photo's.
  let photos: [[Role: Asset]]?

  /// All files; of several photos each by its own.
  var named: [MediaName: Asset] {
    var named: [MediaName: Asset] = [:]
    if let photos, !photos.isEmpty {
      for (index, assets) in photos.enumerated() {
        for (role, asset) in assets { named[MediaName(photo: index, role: role)] = asset }
      }
    } else {
      for (role, asset) in assets { named[MediaName(photo: nil, role: role)] = asset }
    }
    return named
  }
}
