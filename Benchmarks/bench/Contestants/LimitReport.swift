/// What the process of the limit says when it is done.
struct LimitReport: Codable {
  /// CPU time that went into fetching the pictures, which who composes them has at hand.
  let loadingSeconds: Double
  let decodedPictures: Int
  let encodedPictures: Int
}
