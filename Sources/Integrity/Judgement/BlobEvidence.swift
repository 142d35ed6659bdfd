package import Crypto
import Model
import Store

/// What is known of one blob, and what follows from it.
package struct BlobEvidence: Sendable, Hashable {
  package let hash: SHA256Digest
  /// The length that its row tells.
  package let bytes: Int64
  /// In the row.
  package let inline: BlobContent
  /// In the blob store.
  package internal(set) var file: BlobContent
  /// Whether it is a submission's file: those are read by descriptor, wherever else the bytes lie too.
  package let isSource: Bool
  /// Whether no asset names it.
  package let isUnreferenced: Bool
  /// Whether it waits to be collected.
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

  /// What is wrong with the file: it is damaged, or missing where it is needed.
  package var fileFault: FindingCode? {
    switch file {
    case .whole: nil
    case .wrong: isSource ? .sourceCorrupt : .blobCorrupt
    case .absent: isSource ? .sourceMissing : inline.isAbsent ? .blobMissing : nil
    }
  }

  /// Whether anything is wrong with it, so that it is looked at again, and at who uses it.
  package var isSuspect: Bool {
    if isUnreferenced { return !isReleased }
    if case .wrong = inline { return true }
    return fileFault != nil || length.map { $0 != bytes } ?? false
  }

  /// The length of the bytes that are right, if any are.
  package var length: Int64? {
    for content in [file, inline] { if case .whole(let bytes) = content { return bytes } }
    return nil
  }

  /// What is to be reported.
  ///
  /// - Parameter uses: the assets that name it.
  package func findings(uses: [BlobUse]) -> [Finding] {
    if isUnreferenced {
      // Its bytes are nobody's: what is wrong with them goes with it.
      if isReleased { return [] }
      return [Finding(.blobUnreferenced, .blob(hash), .litter, detail: "no asset names it")]
    }
    var findings: [Finding] = []
    let subjects = Set(uses.compactMap(\.subject)).sorted { $0.description < $1.description }
    if let code = fileFault {
      findings.append(
        Finding(code, .blob(hash), severity(of: code, uses), detail: words(of: file), subjects: subjects))
    }
    if case .wrong(let words) = inline {
      let severity = file.isWhole ? .fault : outputSeverity(uses)
      findings.append(
        Finding(.inlineCorrupt, .blob(hash), severity, detail: "in its row, \(words)", subjects: subjects))
    }
    if let length, length != bytes {
      findings.append(
        Finding(
          .blobSize, .blob(hash), .fault, detail: "it has \(length) bytes, its row tells \(bytes)", subjects: subjects))
    }
    return findings
  }

  private func severity(of code: FindingCode, _ uses: [BlobUse]) -> Severity {
    // Sources are made of nothing; of an output the row may have what the file has not.
    if isSource { return .lost }
    return inline.isWhole ? .fault : outputSeverity(uses)
  }

  private func outputSeverity(_ uses: [BlobUse]) -> Severity {
    let current = uses.filter { $0.subject != nil }
    // What was replaced is not made again: it goes, unless somebody wanted to keep it.
    if current.isEmpty { return uses.contains(where: \.isKept) ? .lost : .litter }
    return current.allSatisfy { $0.hasSources && !$0.role.isSource } ? .damaged : .lost
  }

  private func words(of content: BlobContent) -> String {
    switch content {
    case .absent: "its file is not there"
    case .whole(let bytes): "its file has \(bytes) bytes"
    case .wrong(let words): "in its file, \(words)"
    }
  }
}
