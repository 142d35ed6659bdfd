/// What has become of a post.
package enum PostStatus: String, Codable, Sendable, CaseIterable {
  /// Its media are waited for or worked on.
  case processing
  /// Everything it has can be shown.
  case ready
  /// Its media were refused; the reasons say why.
  case rejected
  /// The service could not do its work; nothing is wrong with the media as far as is known.
  case failed
}
