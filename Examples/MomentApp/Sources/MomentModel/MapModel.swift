import Foundation
import Observation
import Take5Client

/// The map: the moments of today in what the screen shows of it.
@MainActor @Observable
public final class MapModel {
  /// The pins, the newest first.
  public private(set) var pins: [Row<Post>] = []
  private let app: AppModel

  /// Makes a model.
  public init(app: AppModel) { self.app = app }

  /// Reads the pins.
  ///
  /// - Parameters:
  ///   - polygon: The corners of the visible map.
  ///   - center: For the nearest first.
  ///   - author: Only the pins of this user.
  public func load(polygon: [Coordinate], near center: Coordinate? = nil, author: String? = nil) async {
    let filter = PostFilter(
      authors: author.map { [$0] } ?? [], polygon: polygon, near: center, radius: center.map { _ in 100_000 },
      from: Foundation.Calendar.current.startOfDay(for: Date()), visibility: [.public, .friends],
      order: center == nil ? .newest : .distance, limit: 100)
    await app.attempt { pins = try await app.client.posts.list(filter, include: [.author, .mine]).page().rows }
  }
}

/// The calendar: a month of the user's own moments.
@MainActor @Observable
public final class CalendarModel {
  /// The days with moments.
  public private(set) var days: [CalendarMonth.Day] = []
  private let app: AppModel

  /// Makes a model.
  public init(app: AppModel) { self.app = app }

  /// Reads a month.
  public func load(year: Int, month: Int) async {
    await app.attempt { days = try await app.client.posts.calendar(year: year, month: month).days }
  }
}
