package import FoundationEssentials
package import Model

/// An operator's request for a run.
package struct ReprocessRequest: Sendable {
  package var selection: ReprocessSelection
  /// The definitions for each kind, one for clips or one for photos or both; a kind without a definition is not processed.
  package var definitions: [SubjectKind: [StoredDefinition]]
  /// Whether replaced outputs stay permanently, instead of for the grace period.
  package var keepsOld = false
  /// Whether outputs are made again even if their recipe has not changed.
  package var isForced = false
  /// The priority of the jobs in their queue; 0 is the highest.
  package var priority = 5
  /// Items per second, within `rates`; nil: no limit.
  package var rate: Double?

  /// From about one item a day to more than any store starts; the statements keep to the same.
  package static let rates = 0.00001...100_000.0
  package static let expectedRate = "a number of items per second from 0.00001 to 100000"

  package init(_ selection: ReprocessSelection, definitions: [SubjectKind: [StoredDefinition]]) {
    self.selection = selection
    self.definitions = definitions
  }
}

/// The filter for the subjects of a run. A property that is nil does not filter, and neither do empty `kinds`.
package struct ReprocessSelection: Codable, Sendable, Hashable {
  /// The status of a subject that can be reprocessed. Subjects that wait for their first job cannot.
  package enum Status: String, Codable, Sendable, CaseIterable {
    /// The subject has outputs.
    case ready
    /// The subject's job is dead or cancelled.
    case failed
    /// The subject's media were rejected. Their sources are kept for a while.
    case rejected
  }

  package var kinds: Set<SubjectKind> = []
  package var statuses: Set<Status> = [.ready]
  /// The name of the definition that made the current outputs.
  package var definition: String?
  /// The current outputs were made by an earlier version of the definition than this one.
  package var versionBelow: Int?
  package var createdAfter: Date?
  package var createdBefore: Date?
  package var author: String?
  /// Several authors, in place of `author`.
  package var authors: [String]?
  /// The public ids of posts and images; an empty list selects nothing.
  package var ids: [PublicID]?
  /// A role that the current outputs lack.
  package var missing: Role?
  /// A text that the last error of the subject's job or of an earlier run contains; case is ignored.
  package var error: String?
  /// The code of one of the reasons for which the subject's media were rejected.
  package var reason: ReasonCode?
  /// The largest number of subjects; the newest are selected.
  package var limit: Int?

  package init() {}

  /// The selection as JSON for operators, with the number of ids instead of the ids.
  var record: [UInt8] {
    get throws { try JSON.encode(Record(self)) }
  }

  /// The selection of a stored run.
  package struct Record: Codable, Sendable {
    /// Without ids.
    package private(set) var selection: ReprocessSelection
    /// The number of ids; nil if the run was not of certain ids.
    package private(set) var count: Int?

    fileprivate init(_ selection: ReprocessSelection) {
      self.selection = selection
      count = selection.ids?.count
      self.selection.ids = nil
    }
  }
}

/// The kind of a post or an image, by its name in the database.
package enum SubjectKind: String, Codable, Sendable, CaseIterable {
  case take5, photo, marker, reaction, profile, itinerary, place

  /// The names of the definitions that the service uses for this kind.
  package var definitionNames: [String] {
    switch self {
    case .take5: ["take5-post"]
    // With a clip or with a photo.
    case .marker: ["marker-video", "photo-post"]
    case .photo: ["photo-post"]
    case .reaction: ["reaction"]
    case .profile: ["profile-image"]
    case .itinerary: ["itinerary-thumbnail"]
    case .place: ["place-photo"]
    }
  }
}
