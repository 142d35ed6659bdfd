/// Which posts a list shows.
package struct PostFilter: Sendable, Hashable {
  /// Of any of these; empty: of anybody.
  package var authors: Set<String>
  package var kind: PostKind?
  /// The app's own name of a place.
  package var place: String?
  /// Empty: whatever it is.
  package var visibilities: Set<Visibility>
  package var statuses: Set<PostStatus>
  /// When it was submitted, in microseconds since 1970-01-01 UTC: from the first on, before the second.
  package var from: Int64?
  package var to: Int64?
  package var area: MapArea?

  package init(
    authors: Set<String> = [], kind: PostKind? = nil, place: String? = nil, visibilities: Set<Visibility> = [],
    statuses: Set<PostStatus> = [.ready], from: Int64? = nil, to: Int64? = nil, area: MapArea? = nil
  ) {
    self.authors = authors
    self.kind = kind
    self.place = place
    self.visibilities = visibilities
    self.statuses = statuses
    self.from = from
    self.to = to
    self.area = area
  }
}
