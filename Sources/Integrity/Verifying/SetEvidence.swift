package import Crypto
package import Model
package import Store

/// The observed state of one set of assets, and the findings that follow from it.
package struct SetEvidence: Sendable, Hashable {
  package let id: PublicID
  package let isRetired: Bool
  package let isKept: Bool
  package let referrers: [SetReferrer]
  package let members: [SetMember]
  /// The assets that its definition makes; nil: it has no definition, or one that does not decode.
  package let expected: ExpectedAssets?

  package init(
    id: PublicID, isRetired: Bool = false, isKept: Bool = false, referrers: [SetReferrer], members: [SetMember],
    expected: ExpectedAssets? = nil
  ) {
    self.id = id
    self.isRetired = isRetired
    self.isKept = isKept
    self.referrers = referrers
    self.members = members
    self.expected = expected
  }

  /// The findings about the set.
  package var findings: [Finding] {
    var findings: [Finding] = []
    if referrers.isEmpty, !isRetired, !isKept {
      findings.append(Finding(.setUnreferenced, .set(id), .orphan, detail: "no post or image refers to it"))
    }
    if !referrers.isEmpty, isRetired {
      findings.append(
        Finding(
          .setRetiredInUse, .set(id), .fault, detail: "it is marked as retired, but in use", subjects: subjects))
    }
    if members.isEmpty {
      if !referrers.isEmpty {
        findings.append(Finding(.setEmpty, .set(id), severity, detail: "it has no assets", subjects: subjects))
      }
    } else if !missing.isEmpty {
      findings.append(
        Finding(
          .assetMissing, .set(id), severity, detail: "it lacks \(missing.joined(separator: ", "))", subjects: subjects))
    }
    for member in members { findings += self.findings(of: member) }
    return findings
  }

  private func findings(of member: SetMember) -> [Finding] {
    guard let blobBytes = member.blobBytes else {
      return [
        Finding(
          .blobRowMissing, .blob(member.blob), severity,
          detail: "asset \(member.id), \(member.role.rawValue), refers to it",
          subjects: subjects)
      ]
    }
    guard blobBytes != member.bytes else { return [] }
    return [
      Finding(
        .assetSize, .asset(member.id), .fault,
        detail: "\(member.bytes) bytes in its row, but \(blobBytes) in its blob's",
        subjects: subjects)
    ]
  }

  private var subjects: [Subject] { referrers.map(\.subject) }

  /// The severity of missing assets: outputs can be made again if the sources are kept.
  private var severity: Severity {
    !referrers.isEmpty && referrers.allSatisfy { !$0.isSource && $0.hasSources } ? .damaged : .lost
  }

  private var missing: [String] {
    var missing: [String] = []
    for referrer in referrers {
      let roles = Set(members.map(\.role))
      if referrer.isSource {
        let sources: [Role] = referrer.isMoment ? [.sourceFront, .sourceBack] : []
        missing += sources.filter { !roles.contains($0) }.map(\.rawValue)
      } else if let expected, !referrer.isLook {
        missing += expected.missing(among: members, photos: referrer.photos)
      }
    }
    return missing
  }
}

/// A post or an image that refers to a set of assets.
package struct SetReferrer: Sendable, Hashable {
  package let subject: Subject
  /// Whether the set is the subject's sources, and not its current outputs.
  package let isSource: Bool
  /// Whether the set is a first look, which has less than its definition makes.
  package let isLook: Bool
  /// Whether the subject is a post of two clips.
  package let isMoment: Bool
  /// Whether the subject's sources are kept.
  package let hasSources: Bool
  /// The number of photos in the subject's sources.
  package let photos: Int

  package init(
    subject: Subject, isSource: Bool, isLook: Bool = false, isMoment: Bool = false, hasSources: Bool = true,
    photos: Int = 0
  ) {
    self.subject = subject
    self.isSource = isSource
    self.isLook = isLook
    self.isMoment = isMoment
    self.hasSources = hasSources
    self.photos = photos
  }
}

/// An asset of a set.
package struct SetMember: Sendable, Hashable {
  package let id: PublicID
  package let role: Role
  package let place: Int
  package let blob: SHA256Digest
  /// The length in the asset's row.
  package let bytes: Int64
  /// The length in the blob's row; nil: the row does not exist.
  package let blobBytes: Int64?

  package init(id: PublicID, role: Role, place: Int, blob: SHA256Digest, bytes: Int64, blobBytes: Int64?) {
    self.id = id
    self.role = role
    self.place = place
    self.blob = blob
    self.bytes = bytes
    self.blobBytes = blobBytes
  }
}

/// The assets that a definition makes.
package struct ExpectedAssets: Sendable, Hashable {
  private let roles: [Role]
  /// Whether each photo has all roles.
  private let isPerPhoto: Bool

  package init(_ definition: Definition) {
    roles = definition.madeRoles
    isPerPhoto = false
  }

  package init(_ definition: PhotoDefinition) {
    // A photo that is not animated has no preview.
    roles = definition.plan.variantRoles
    isPerPhoto = true
  }

  package init(_ definition: MediaDefinition) {
    switch definition {
    case .clips(let definition): self.init(definition)
    case .photos(let definition): self.init(definition)
    }
  }

  /// Describes the assets that a set lacks.
  ///
  /// - Parameter photos: the number of kept source photos; if none are kept, the largest index in the set determines
  ///   it.
  func missing(among members: [SetMember], photos: Int) -> [String] {
    guard isPerPhoto else {
      let present = Set(members.map(\.role))
      return roles.filter { !present.contains($0) }.map(\.rawValue)
    }
    let count = max(photos, (members.map(\.place).max() ?? -1) + 1)
    return (0..<count).flatMap { index in
      let present = Set(members.filter { $0.place == index }.map(\.role))
      return roles.filter { !present.contains($0) }.map { "\($0.rawValue) of photo \(index)" }
    }
  }
}
