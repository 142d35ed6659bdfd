/// Who may see a post.
package enum Visibility: String, Codable, Sendable, CaseIterable {
  case `public`
  case friends
  case `private`
}

extension Visibility: Comparable {
  /// Whether fewer may see it.
  package static func < (left: Visibility, right: Visibility) -> Bool { left.reach < right.reach }

  private var reach: Int {
    switch self {
    case .public: 2
    case .friends: 1
    case .private: 0
    }
  }
}
