package import FoundationEssentials

/// An image that was submitted by itself, as readers see it.
package struct StoredImage: Sendable, Hashable {
  package let id: PublicID
  package let draft: ImageDraft
  package let status: ImageStatus
  package let createdAt: Date
  /// Why it was refused; empty otherwise.
  package let reasons: [Reason]
  package let job: JobSummary?
  /// By role; sources are not among them.
  package let assets: [Role: Asset]

  package init(
    id: PublicID, draft: ImageDraft, status: ImageStatus, createdAt: Date, reasons: [Reason], job: JobSummary?,
    assets: [Role: Asset]
  ) {
    self.id = id
    self.draft = draft
    self.status = status
    self.createdAt = createdAt
    self.reasons = reasons
    self.job = job
    self.assets = assets
  }
}
