import Blobs
import CStoreSQL
import Crypto
package import Model
import Platform
package import Postgres
import Queue

/// The count of crashes by input, and the refusal of quarantined inputs.
package enum Quarantine {
  static let statements = Statements(topic: "quarantine", StoreSQL.Quarantine)

  /// The number of crashes that quarantines an input.
  package static let maxCrashes = 2

  /// Records that an attempt was interrupted, so that later attempts at the same inputs run isolated.
  package static func markSuspect(_ work: Work, error: String, _ session: Session) throws(PostgresError) {
    try session.execute(
      Self.statements["mark_suspect"], .byteStrings(Set(work.inputs).sorted().map(\.bytes)), .text(error))
  }

  /// Counts a crash that the media caused. `maxCrashes` of the same input quarantine it: its blobs stay until it is
  /// released, whatever becomes of the subject.
  package static func countCrash(_ crash: CrashFacts, of work: Work, _ session: Session) throws -> CrashCount {
    let kind: QuarantinedMedia.Kind
    let blobs: [(role: Role, hash: SHA256Digest)]
    var (hash, foreground) = (work.inputs[0], Camera?.none)
    switch work.content {
    case .moment(let moment):
      (kind, foreground) = (.moment, moment.foreground)
      blobs = [(.sourceFront, moment.front), (.sourceBack, moment.back)]
    case .clip: (kind, blobs) = (.clip, [(.sourceClip, hash)])
    case .photos:
      hash = work.inputs[crash.photo ?? 0]
      (kind, blobs) = (.photo, [(.sourcePhoto, hash)])
    }
    let crashes: Int = try session.execute(
      Self.statements["count_crash"], .bytes(hash.bytes), .text(crash.error), .text(kind.rawValue),
      .text(crash.code.rawValue), .text(crash.stage), .text(crash.signal), .text(crash.limits),
      .bytes(work.definitionHash.bytes), .text(foreground?.rawValue), .text(ThisProcess.version)
    ).single().get("crashes")
    guard crashes >= Self.maxCrashes, try !session.execute(Self.statements["quarantine"], .bytes(hash.bytes)).isEmpty
    else { return CrashCount(crashes: crashes, quarantines: false) }
    // The quarantine refers to the blobs, so that they stay.
    try session.execute(
      Self.statements["insert_quarantined"], .bytes(hash.bytes), .texts(blobs.map(\.role.rawValue)),
      .byteStrings(blobs.map(\.hash.bytes)))
    return CrashCount(crashes: crashes, quarantines: true)
  }

  /// Forgets the crashes of inputs that were published, unless they are quarantined.
  static func resetCrashes(of work: Work, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["reset_crash_count"], .byteStrings(work.inputs.map(\.bytes)))
  }

  /// Throws if one of the submitted files, or the pair of them, is quarantined.
  static func refuse(_ sources: [NewAsset], _ session: Session) throws {
    let inputs = MediaInput.all(of: sources.map { ($0.role, $0.place, $0.content.hash) })
    let found = try crashes(of: inputs, session)
    guard found.refusals.isEmpty else { throw QuarantineRefusal(reasons: found.refusals) }
  }

  /// Reads which of the inputs have crashed or were interrupted, with a reason for each that is quarantined.
  static func crashes(
    of inputs: [MediaInput], _ session: Session
  ) throws -> (suspects: Set<SHA256Digest>, refusals: [Reason]) {
    var (suspects, quarantined): (Set<SHA256Digest>, Set<SHA256Digest>) = ([], [])
    for row in try session.execute(Self.statements["crashes_of"], .byteStrings(inputs.map(\.hash.bytes))) {
      guard let hash = SHA256Digest(bytes: try row.get("inputs")) else { continue }
      suspects.insert(hash)
      if try row.get("is_quarantined") { quarantined.insert(hash) }
    }
    return (suspects, inputs.filter { quarantined.contains($0.hash) }.map(\.refusal))
  }
}

/// The crashes of an input, with the one that was just counted.
package struct CrashCount: Sendable, Hashable {
  package let crashes: Int
  /// Whether this crash quarantined the input, and not an earlier one.
  package let quarantines: Bool
}

/// The refusal of a submission whose media are quarantined. The caller must roll back.
package struct QuarantineRefusal: Error, Sendable, Hashable {
  /// A reason for each quarantined input.
  package let reasons: [Reason]
}
