import FoundationEssentials
internal import Model

/// The daily window as clients read it; what there is not is null.
struct WindowAnswer: Encodable {
  private let window: DailyWindow?
  private let nextAt: Date?

  init(_ window: DailyWindow?, nextAt: Date?) {
    self.window = window
    self.nextAt = nextAt
  }

  private enum CodingKeys: String, CodingKey { case open, openedAt, closesAt, nextAt }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(window?.isOpen ?? false, forKey: .open)
    try container.encode(window?.openedAt, forKey: .openedAt)
    try container.encode(window?.closesAt, forKey: .closesAt)
    try container.encode(nextAt, forKey: .nextAt)
  }
}
