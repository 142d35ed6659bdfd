import Crypto
package import Model
import Platform
package import Postgres
import Queue

/// The attribution of the crashes of a quarantined moment to its clips.
///
/// It is a job, which a moment's quarantine enqueues: a worker that is lost, drained or interrupted meanwhile leaves it
/// to another, and the moment is refused until then.
extension Store {
  /// Enqueues the attribution of a moment that was quarantined just now.
  func enqueueAttribution(
    of moment: Work.Moment, _ inputs: SHA256Digest, _ work: Work, _ session: Session
  ) throws {
    let arguments = AttributionJob(post: work.subject.id, inputs: inputs.hex)
    try JobQueue.enqueue(
      NewJob(
        publicID: .now(), queue: AttributionJob.queue, kind: AttributionJob.kind,
        // The clips have the definition's deadline each.
        maxAttempts: moment.definition.attempts, deadlineSeconds: 2 * moment.definition.deadlineSeconds,
        definition: work.definitionHash.bytes, arguments: try JSON.encode(arguments)), session)
  }

  /// Reads the work of an attribution; nil if the moment is not quarantined any more.
  func attributionWork(_ attribution: AttributionJob, job: PublicID, _ session: Session) throws -> Work? {
    guard let media = try quarantined(prefix: attribution.inputs, session).first, let foreground = media.foreground,
      let front = media.inputs.first(where: { $0.role == .sourceFront }),
      let back = media.inputs.first(where: { $0.role == .sourceBack })
    else { return nil }
    let moment = Work.Moment(
      foreground: foreground, definition: try read(definition(of: media, session), of: job), front: front.hash,
      back: back.hash)
    var work = Work(
      subject: .post(attribution.post), definitionHash: media.definition, content: .moment(moment),
      sources: Dictionary([front, back].map { ($0.hash, $0.bytes) }) { first, _ in first })
    work.isAttribution = true
    work.isSuspect = true
    return work
  }

  /// Quarantines the clips of a moment that ended a media process without the other, and releases the moment: what is
  /// refused from then on is each of these clips, with whatever other clip. Without such a clip, or if the moment was
  /// released meanwhile, nothing changes.
  ///
  /// - Returns: the cameras of the clips that were not quarantined before.
  package func attribute(
    _ crashes: [Camera: CrashFacts], of work: Work, _ session: Session
  ) throws(PostgresError) -> [Camera] {
    guard case .moment(let moment) = work.content, !crashes.isEmpty else { return [] }
    let inputs = MediaInput.hash(ofMoment: moment.front, moment.back)
    var quarantined: [Camera] = []
    // In the order of the hashes, as other writers lock them.
    for (camera, crash) in crashes.sorted(by: { moment.clip(of: $0.key) < moment.clip(of: $1.key) }) {
      let clip = moment.clip(of: camera)
      let rows = try session.execute(
        Self.quarantine["quarantine_clip"], .bytes(clip.bytes), .bytes(inputs.bytes), .text(crash.error),
        .text(crash.code.rawValue), .text(crash.stage), .text(crash.signal), .text(crash.limits),
        .text(ThisProcess.version))
      guard !rows.isEmpty else { continue }
      try hold([(camera == .front ? .sourceFront : .sourceBack, clip)], asInputs: clip, session)
      quarantined.append(camera)
    }
    _ = try release(inputs, session)
    return quarantined
  }
}
