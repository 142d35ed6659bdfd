import Blobs
import FoundationEssentials
import Integrity
import Model
import Store

/// The result that `take5 restore` prints.
struct RestoreResult: Encodable {
  /// The time of the backup, and the version of take5 that made it.
  let createdAt: Date
  let version: String
  let counts: BackupManifest.Counts
  /// The number of blobs that were copied, and of their bytes.
  let copied: Int
  let copiedBytes: Int64
  /// What a verification has found.
  let findings: [Finding]
  /// The API keys that are valid.
  let keys: [KeyReport]
  /// Whether all keys were revoked.
  let keysRevoked: Bool

  init(
    _ manifest: BackupManifest, _ copy: BlobCopy.Report, findings: [Finding], keys: [StoredKey], keysRevoked: Bool
  ) {
    createdAt = manifest.createdAt
    version = manifest.version
    counts = manifest.counts
    copied = copy.copied
    copiedBytes = copy.bytes
    self.findings = findings
    self.keys = keys.map(KeyReport.init)
    self.keysRevoked = keysRevoked
  }

  /// Whether a verification has found nothing but orphans.
  var isWhole: Bool { findings.allSatisfy { $0.severity == .orphan } }

  var text: String {
    var lines = findings.map { "\($0.line)\n  \($0.remedy)" }
    let time = JSON.text(of: createdAt)
    lines.append("restored the backup of \(time), made by take5 \(version): \(counts.text)")
    lines.append("the store was verified, and is \(isWhole ? "consistent" : "not consistent: see above")")
    if keysRevoked {
      lines.append("all API keys are revoked: 'take5 keys create' makes new ones")
    } else if keys.isEmpty {
      lines.append("no API key is valid, as at that time")
    } else {
      lines.append(
        "API keys are as they were at that time: one that was revoked since is valid again. These are valid:")
      lines += keys.map { "  \($0.line)" }
      lines.append("'take5 keys revoke NUMBER' revokes one; 'take5 restore --revoke-keys' would have revoked all")
    }
    lines.append("tokens and passwords of users, and media URLs that were signed, are as they were at that time, too")
    return lines.joined(separator: "\n")
  }
}

extension BackupManifest.Counts {
  /// The counts as text.
  var text: String {
    "\(Counted.text(posts, "post")), \(Counted.text(images, "image")), \(Counted.text(blobs, "blob")) with "
      + "\(blobBytes) bytes"
  }
}

/// A number of things as text.
enum Counted {
  static func text(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension Finding {
  /// The finding as one line of text.
  var line: String { "\(severity.rawValue)  \(code.rawValue)  \(object.kind) \(object.id): \(detail)" }
}
