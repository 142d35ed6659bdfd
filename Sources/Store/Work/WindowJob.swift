/// How a daily window is to be opened: a job's arguments in the queue.
package struct WindowJob: Decodable, Sendable, Hashable {
  /// How long it stays open.
  package let seconds: Int

  private static let limits = 1...86_400

  /// Reads `{"seconds": 300}`, the usual five minutes if it is not said.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let fields = try container.decode([String: Int].self)
    seconds = fields["seconds"] ?? 300
    guard Set(fields.keys).isSubset(of: ["seconds"]), Self.limits ~= seconds else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "expected no key but seconds, from \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
    }
  }
}
