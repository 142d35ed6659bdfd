import Model

/// A message with the version of the protocol, so that a process of another build is told at once.
struct Envelope<Message: Codable & Sendable>: Codable, Sendable {
  let version: Int
  let message: Message

  /// Raised with every change that an older side would misread.
  static var currentVersion: Int { 5 }

  static func encode(_ message: Message) throws(MediaFailure) -> [UInt8] {
    do {
      return try JSON.encode(Envelope(version: currentVersion, message: message))
    } catch {
      throw MediaFailure(.protocolViolation, "a message could not be written: \(error)")
    }
  }

  static func decode(_ bytes: [UInt8]) throws(MediaFailure) -> Message {
    let envelope: Envelope
    do {
      envelope = try JSON.decode(Envelope.self, from: bytes)
    } catch {
      throw MediaFailure(.protocolViolation, "a message could not be read: \(error)")
    }
    guard envelope.version == currentVersion else {
      throw MediaFailure(
        .protocolViolation, "it speaks version \(envelope.version), this side speaks version \(currentVersion)")
    }
    return envelope.message
  }
}
