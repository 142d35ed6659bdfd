package import Model
import Store

/// What is known of one set of assets as of one moment, and what follows from it.
package struct SetEvidence: Sendable, Hashable {
  package let id: PublicID
  package let isRetired: Bool
  package let isKept: Bool
  package let referrers: [SetReferrer]
  package let members: [SetMember]
  /// What its definition makes; nil: it has none, or one that cannot be read.
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

  /// What is to be reported.
  package var findings: [Finding] {
    var findings: [Finding] = []
    if referrers.isEmpty, !isRetired, !isKept {
      findings.append(Finding(.setUnreferenced, .set(id), .litter, detail: "no post and no image refers to it"))
    }
    if !referrers.isEmpty, isRetired {
      findings.append(
        Finding(
          .setRetiredInUse, .set(id), .fault, detail: "it counts as replaced, and is not", subjects: subjects))
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
          detail: "asset \(member.id), \(member.role.rawValue), names it",
          subjects: subjects)
      ]
    }
    guard blobBytes != member.bytes else { return [] }
    return [
      Finding(
        .assetSize, .asset(member.id), .fault, detail: "it tells \(member.bytes) bytes, its blob \(blobBytes)",
        subjects: subjects)
    ]
  }

  private var subjects: [Subject] { referrers.map(\.subject) }

  /// Of what is missing: outputs are made again where there are sources to make them of.
  private var severity: Severity {
    !referrers.isEmpty && referrers.allSatisfy { !$0.isSource && $0.hasSources } ? .damaged : .lost
  }

  private var missing: [String] {
    var missing: [String] = []
    for referrer in referrers {
      let roles = Set(members.map(\.role))
      if referrer.isSource {
        let brought: [Role] = referrer.isMoment ? [.sourceFront, .sourceBack] : []
        missing += brought.filter { !roles.contains($0) }.map(\.rawValue)
      } else if let expected {
        missing += expected.missing(among: members, photos: referrer.photos)
      }
    }
    return missing
  }
}
