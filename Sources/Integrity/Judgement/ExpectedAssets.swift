package import Model

/// The assets that a run of a definition makes.
package struct ExpectedAssets: Sendable, Hashable {
  private let roles: [Role]
  private let isEachPhotos: Bool

  /// What is made of clips.
  package init(_ definition: Definition) {
    roles = definition.madeRoles
    isEachPhotos = false
  }

  /// What is made of each photo.
  package init(_ definition: PhotoDefinition) {
    roles = definition.plan.outputs
    isEachPhotos = true
  }

  /// What a definition of either sort makes.
  package init(_ definition: MediaDefinition) {
    switch definition {
    case .clips(let definition): self.init(definition)
    case .photos(let definition): self.init(definition)
    }
  }

  /// Those that a set lacks, in words.
  ///
  /// - Parameter photos: how many were submitted, as far as they are kept; otherwise the set itself tells.
  func missing(among members: [SetMember], photos: Int) -> [String] {
    guard isEachPhotos else {
      let there = Set(members.map(\.role))
      return roles.filter { !there.contains($0) }.map(\.rawValue)
    }
    let last = max(photos, (members.map(\.place).max() ?? -1) + 1)
    return (0..<last).flatMap { place in
      let there = Set(members.filter { $0.place == place }.map(\.role))
      return roles.filter { !there.contains($0) }.map { "\($0.rawValue) of photo \(place)" }
    }
  }
}
