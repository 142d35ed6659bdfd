/// What has become of an image.
package enum ImageStatus: String, Codable, Sendable {
  /// It is waited for or worked on.
  case processing
  /// It can be shown.
  case ready
  /// It was refused; the reasons say why.
  case rejected
  /// The service could not do its work; nothing is wrong with the image as far as is known.
  case failed
  /// One that was submitted later is in its place.
  case replaced
}
