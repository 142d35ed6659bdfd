package import FoundationEssentials

/// A stored post as readers see it.
package struct Post: Sendable, Hashable {
  package let id: PublicID
  package let draft: PostDraft
  package let status: PostStatus
  package let createdAt: Date
  package let counts: PostCounts
  /// Why the media were refused; empty otherwise.
  package let reasons: [Reason]
  /// The job that makes its media; nil for a post without any.
  package let job: JobSummary?
  /// The current set, by role; sources are not among them.
  package let assets: [Role: Asset]
  /// The variants of each photo, by role, in the order in which they were submitted.
  package let photos: [[Role: Asset]]

  package init(
    id: PublicID, draft: PostDraft, status: PostStatus, createdAt: Date, counts: PostCounts = PostCounts(),
    reasons: [Reason], job: JobSummary?, assets: [Role: Asset], photos: [[Role: Asset]] = []
  ) {
    self.id = id
    self.draft = draft
    self.status = status
    self.createdAt = createdAt
    self.counts = counts
    self.reasons = reasons
    self.job = job
    self.assets = assets
    self.photos = photos
  }
}
