public import Foundation

/// The daily window, in which all users film.
///
/// ```swift
/// let window = try await client.window()
/// if window.isOpen, let end = window.closesAt { startCountdown(to: end) }
/// ```
public struct DailyWindow: Sendable, Hashable, Codable {
  /// Whether it is open, by the clock of the service.
  public var isOpen: Bool
  /// When the current or last window opened.
  public var openedAt: Date?
  /// When it closes, or has closed.
  public var closesAt: Date?

  private enum CodingKeys: String, CodingKey {
    case isOpen = "open"
    case openedAt = "opened_at"
    case closesAt = "closes_at"
  }
}

/// A month of an author's calendar: the days with posts.
///
/// ```swift
/// let month = try await client.posts.calendar(year: 2026, month: 11)
/// for day in month.days { show(day.date, day.image) }
/// ```
public struct CalendarMonth: Sendable, Hashable, Codable {
  /// A day with posts.
  public struct Day: Sendable, Hashable, Codable {
    /// The date in the time zone, such as `2026-11-20`.
    public var date: String
    /// The number of posts.
    public var posts: Int
    /// The id of the latest post.
    public var post: String
    /// Its image.
    public var image: Asset?
  }

  /// The month, such as `2026-11`.
  public var month: String
  /// The name of the time zone.
  public var zone: String
  /// The days in ascending order.
  public var days: [Day]
}
