package import Crypto
package import Model
package import Store

/// The observed state of one blob, and the findings that follow from it.
package struct BlobEvidence: Sendable, Hashable {
  package let hash: SHA256Digest
  /// The length in the row.
  package let bytes: Int64
  /// The content in the row.
  package let inline: BlobContent
  /// The content in the blob store.
  package internal(set) var file: BlobContent
  /// Whether the blob is a source, which must be a file even if the row has inline content.
  package let isSource: Bool
  /// Whether neither an asset nor the quarantine refers to the blob.
  package let isUnreferenced: Bool
  /// Whether the blob waits for collection.
  package let isReleased: Bool

  package init(
    hash: SHA256Digest, bytes: Int64, inline: BlobContent, file: BlobContent, isSource: Bool = false,
    isUnreferenced: Bool = false, isReleased: Bool = false
  ) {
    self.hash = hash
    self.bytes = bytes
    self.inline = inline
    self.file = file
    self.isSource = isSource
    self.isUnreferenced = isUnreferenced
    self.isReleased = isReleased
  }

  /// The code for a file that is damaged, or that is required and missing.
  package var fileFault: FindingCode? {
    switch file {
    case .intact: nil
    case .wrong: isSource ? .sourceCorrupt : .blobCorrupt
    case .absent: isSource ? .sourceMissing : inline.isAbsent ? .blobMissing : nil
    }
  }

  /// Whether the blob needs a second check under its lock, together with its uses.
  package var isSuspect: Bool {
    if isUnreferenced { return !isReleased }
    if case .wrong = inline { return true }
    return fileFault != nil || length.map { $0 != bytes } ?? false
  }

  /// The length of the intact content; nil if there is none.
  package var length: Int64? {
    for content in [file, inline] { if case .intact(let bytes) = content { return bytes } }
    return nil
  }

  /// Returns the findings about the blob.
  ///
  /// - Parameter uses: the assets and quarantined inputs that refer to it.
  package func findings(uses: [BlobUse]) -> [Finding] {
    if isUnreferenced {
      // Damage of an orphan does not matter: the blob is removed.
      if isReleased { return [] }
      return [Finding(.blobUnreferenced, .blob(hash), .orphan, detail: "no asset refers to it")]
    }
    var findings: [Finding] = []
    let subjects = Set(uses.compactMap(\.subject)).sorted { $0.description < $1.description }
    if let code = fileFault {
      findings.append(
        Finding(
          code, .blob(hash), fileSeverity(uses),
          detail: ([description(of: file)] + uses.compactMap(\.quarantine)).joined(separator: "; "),
          subjects: subjects))
    }
    if case .wrong(let content) = inline {
      let severity = file.isIntact ? .fault : outputSeverity(uses)
      findings.append(
        Finding(.inlineCorrupt, .blob(hash), severity, detail: "its row has \(content)", subjects: subjects))
    }
    if let length, length != bytes {
      findings.append(
        Finding(
          .blobSize, .blob(hash), .fault, detail: "\(length) bytes, but \(bytes) in its row", subjects: subjects))
    }
    return findings
  }

  private func fileSeverity(_ uses: [BlobUse]) -> Severity {
    // The row may have the content. A source cannot be made again.
    if inline.isIntact { return .fault }
    return isSource ? .lost : outputSeverity(uses)
  }

  private func outputSeverity(_ uses: [BlobUse]) -> Severity {
    let current = uses.filter { $0.subject != nil }
    // Replaced outputs are not made again: they are removed, unless their set is kept.
    if current.isEmpty { return uses.contains(where: \.isKept) ? .lost : .orphan }
    return current.allSatisfy { $0.hasSources && !$0.role.isSource } ? .damaged : .lost
  }

  private func description(of file: BlobContent) -> String {
    switch file {
    case .absent: "its file does not exist"
    case .intact(let bytes): "its file has \(bytes) bytes"
    case .wrong(let content): "its file has \(content)"
    }
  }
}

/// The content of a blob in one of its two locations, the row and the file.
package enum BlobContent: Sendable, Hashable {
  case absent
  /// The content has the blob's hash.
  case intact(bytes: Int64)
  /// The content has another hash, or cannot be read; with a description.
  case wrong(String)

  var isIntact: Bool { if case .intact = self { true } else { false } }
  var isAbsent: Bool { self == .absent }
}

/// An asset that refers to a blob, with its subject; or a quarantined input.
package struct BlobUse: Sendable, Hashable {
  package let role: Role
  /// What refers to the blob, for messages, if that is the quarantine; nil: an asset.
  package private(set) var quarantine: String?
  /// The subject whose current outputs or sources include the asset; nil: the asset's set was replaced.
  package let subject: Subject?
  /// Whether the subject's sources are kept.
  package let hasSources: Bool
  /// Whether the asset's set is kept after it was replaced.
  package let isKept: Bool

  package init(role: Role, subject: Subject?, hasSources: Bool, isKept: Bool = false) {
    self.role = role
    self.subject = subject
    self.hasSources = hasSources
    self.isKept = isKept
  }

  /// The use of a blob by the quarantine.
  ///
  /// - Parameter inputs: the hash of the quarantined inputs.
  package init(role: Role, quarantinedAs inputs: SHA256Digest) {
    self.init(role: role, subject: nil, hasSources: false, isKept: true)
    quarantine = "quarantined as \(inputs.hex.prefix(12))"
  }
}
