import Foundation

/// Parses server-sent events (WHATWG HTML, section 9.2.6), in pieces of any length.
struct EventParser {
  /// What a line and an event may have: the service sends a few hundred bytes.
  static let maxBytes = 1 << 20

  private(set) var id: String?
  private var line: [UInt8] = []
  private var data: [String] = []
  private var name = ""
  private var size = 0
  private var endsWithReturn = false

  init(id: String?) { self.id = id }

  /// The events that are complete with these bytes; throws if a line has no end.
  mutating func push(_ bytes: Data) throws(Take5Error) -> [UserEvent] {
    var events: [UserEvent] = []
    for byte in bytes {
      let isReturn = byte == UInt8(ascii: "\r")
      defer { endsWithReturn = isReturn }
      // The second half of the end of a line.
      if byte == UInt8(ascii: "\n"), endsWithReturn { continue }
      if isReturn || byte == UInt8(ascii: "\n") {
        if let event = endLine() { events.append(event) }
      } else {
        line.append(byte)
        size += 1
        guard size <= Self.maxBytes else { throw .unreadable("an event has no end") }
      }
    }
    return events
  }

  private mutating func endLine() -> UserEvent? {
    let text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    guard !text.isEmpty else { return dispatch() }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let field = parts.first else { return nil }
    var value = parts.count > 1 ? parts[1] : ""
    if value.first == " " { value.removeFirst() }
    switch field {
    case "data": data.append(String(value))
    case "event": name = String(value)
    case "id" where !value.utf8.contains(0): id = String(value)
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> UserEvent? {
    defer { (data, name, size) = ([], "", 0) }
    guard !data.isEmpty else { return nil }
    var values: [String: JSONValue] = [:]
    // An event whose values cannot be read still moves the position of the stream.
    do { values = try JSONCoding.value(Data(data.joined(separator: "\n").utf8)) } catch { values = [:] }
    return UserEvent(id: id, kind: UserEvent.Kind(rawValue: name), values: values)
  }
}
