/// A definition of either sort: they are told apart by what they make, `outputs` of clips or `variants` of photos.
package enum MediaDefinition: Decodable, Sendable, Hashable {
  case clips(Definition)
  case photos(PhotoDefinition)

  private enum CodingKeys: CodingKey {
    case variants
  }

  /// Reads the one that it is; throws what is wrong with it as that.
  package init(from decoder: any Decoder) throws {
    if try decoder.container(keyedBy: CodingKeys.self).contains(.variants) {
      self = .photos(try PhotoDefinition(from: decoder))
    } else {
      self = .clips(try Definition(from: decoder))
    }
  }
}
