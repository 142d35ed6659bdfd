import Model

/// How a daily window is to be opened: a job's arguments in the queue.
package struct WindowJob: Codable, Sendable, Hashable {
  /// How long it stays open.
  package let seconds: Int

  /// Reads `{"seconds": 300}`, the usual five minutes if it is not said; nil if it is anything else.
  package init?(arguments: [UInt8]) {
    guard let fields = try? JSON.decode([String: Int].self, from: arguments),
      Set(fields.keys).isSubset(of: ["seconds"]), 1...86_400 ~= fields["seconds"] ?? 300
    else { return nil }
    seconds = fields["seconds"] ?? 300
  }
}
