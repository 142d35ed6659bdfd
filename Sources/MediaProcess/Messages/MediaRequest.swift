package import Model
internal import Platform

/// A request to a child of the fork server; descriptors are sent with it (unix(7), SCM_RIGHTS). A run follows the facts of
/// a probe.
package enum MediaRequest: Codable, Sendable, Hashable {
  /// Probes inputs. The descriptors belong to the inputs, in this order.
  case probe(inputs: [InputName], limits: Limits)
  /// Runs a plan for the inputs that the child has probed. The descriptors belong to the outputs, in this order.
  case run(plan: Plan, mode: ExecutionMode, outputs: [Role])
  /// Runs a plan for one photo. The descriptors belong to the photo and then to the outputs, in this order.
  case photo(plan: PhotoPlan, outputs: [Role])

  var stage: MediaCrash.Stage {
    switch self {
    case .probe: .probe
    case .run: .run
    case .photo: .photo
    }
  }
}

/// A reply of a child: its last message is a result or a failure, or facts that no plan follows, and it ends after it.
package enum MediaReply: Codable, Sendable, Hashable {
  /// The facts of the inputs, and the reasons for which they are refused.
  case probed(ProbeReport)
  /// The completed fraction of the run, 0 to 1; sent at most five times a second.
  case progress(Double)
  /// The run is complete and its outputs are written.
  case result(RunReport)
  /// The photo is examined; its outputs are written if it is accepted.
  case photo(PhotoReport)
  /// The request failed without a verdict on the media.
  case failure(MediaFailure)
}

/// The result of probing a submission's inputs.
package struct ProbeReport: Codable, Sendable, Hashable {
  /// The facts of the accepted inputs.
  package var facts: [InputName: ClipFacts] = [:]
  /// The reasons for which inputs are refused; empty if all are accepted.
  package var reasons: [Reason] = []

  package init() {}

  /// The verdict if the probe alone refuses the media.
  package var verdict: Verdict {
    Verdict(reasons: reasons, inputs: facts.mapValues { InputReport(facts: $0) }, decisions: [])
  }
}

/// A message with the version of the protocol, so that a process of another build is detected.
package struct Envelope<Message: Codable & Sendable>: Codable, Sendable {
  let version: Int
  let message: Message

  /// Incremented with every incompatible change.
  static var currentVersion: Int { 9 }

  package static func encode(_ message: Message) throws(MediaFailure) -> [UInt8] {
    do {
      return try JSON.encode(Envelope(version: currentVersion, message: message))
    } catch {
      throw MediaFailure(.protocolViolation, "a message could not be encoded: \(error)")
    }
  }

  package static func decode(_ bytes: [UInt8]) throws(MediaFailure) -> Message {
    guard ExternalText.isIn(json: bytes) else {
      throw MediaFailure(.protocolViolation, "a message has a text that is not \(ExternalText.expected)")
    }
    let envelope: Envelope
    do {
      envelope = try JSON.decode(Envelope.self, from: bytes)
    } catch {
      // The error can quote the message. Foundation's decoder refuses values that are nested more than 512 deep.
      throw MediaFailure(.protocolViolation, "a message could not be decoded: \(error)".cleaned)
    }
    guard envelope.version == currentVersion else {
      throw MediaFailure(
        .protocolViolation, "the message has protocol version \(envelope.version), expected \(currentVersion)")
    }
    return envelope.message
  }
}
