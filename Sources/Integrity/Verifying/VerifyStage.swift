/// The steps of a verification, in their order.
package enum VerifyStage: String, Sendable, CaseIterable {
  case blobs, sets, posts, images, files, media
}
