import Foundation

/// What a player of a moment needs to know: both clips, which of them is the inset, and how their times belong together.
///
/// It has no views: an app plays both clips with players of its own, and asks this value where each of them is.
///
/// ```swift
/// guard var moment = MomentPlayer(post) else { return }
/// front.seek(to: moment.start(of: .front))  // both players now show the same instant
/// back.seek(to: moment.start(of: .back))
/// moment.swap()  // a tap: the other camera is the inset, and gives the sound
/// ```
public struct MomentPlayer: Sendable, Hashable {
  /// The clip of the front camera.
  public let front: Asset
  /// The clip of the back camera.
  public let back: Asset
  /// The composition of both, once it is there.
  public let composed: Asset?
  /// The composition for slow networks, once it is there.
  public let composedSmall: Asset?
  /// The time of a sound in the front clip minus its time in the back clip, in seconds; 0 if it is not known, as at
  /// the first look. Once the post is ready, another player has it.
  public let offset: Double
  /// The camera that is drawn as the inset on top. Its sound is played.
  public private(set) var foreground: Camera

  /// The facts of a post; nil unless it is a moment whose clips are there.
  public init?(_ post: Post) {
    guard let front = post.assets[.clipFront], let back = post.assets[.clipBack] else { return nil }
    (self.front, self.back) = (front, back)
    (composed, composedSmall) = (post.assets[.composed], post.assets[.composedSmall])
    (offset, foreground) = (post.offsetSeconds ?? 0, post.foreground)
  }

  /// The camera that fills the frame.
  public var background: Camera { foreground.other }

  /// The clip of a camera.
  public func clip(of camera: Camera) -> Asset { camera == .front ? front : back }

  /// Draws the other camera as the inset.
  public mutating func swap() { foreground = foreground.other }

  /// The time in the clip of a camera, in seconds, at which both cameras record for the first time.
  public func start(of camera: Camera) -> Double {
    let start = camera == .front ? offset : -offset
    // The negative of 0 would be printed with its sign.
    return start > 0 ? start : 0
  }

  /// How long both cameras record, in seconds; nil if a clip does not say how long it is.
  public var duration: Double? {
    guard let front = front.duration, let back = back.duration else { return nil }
    return max(0, min(front - start(of: .front), back - start(of: .back)))
  }

  /// The time in the clip of the other camera that is the same instant as a time in the clip of one camera, in seconds; it may be
  /// outside of the clip.
  public func time(in camera: Camera, at time: Double, of other: Camera) -> Double {
    guard camera != other else { return time }
    return camera == .back ? time - offset : time + offset
  }

  /// The composition that a link carries without stalling, or the smaller one if none is that small; nil before there is one.
  ///
  /// - Parameter bitsPerSecond: What the link carries.
  public func composition(forBitsPerSecond bitsPerSecond: Double) -> Asset? {
    guard let composed, let duration = composed.duration, duration > 0 else { return composedSmall ?? composed }
    let isCarried = Double(composed.bytes) * 8 / duration <= bitsPerSecond
    return isCarried ? composed : composedSmall ?? composed
  }
}
