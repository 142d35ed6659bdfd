import Foundation
import Observation
import Take5Client

/// The details of a moment: both clips, comments and reactions.
@MainActor @Observable
public final class DetailsModel {
  /// The moment with its author.
  public private(set) var row: Row<Post>?
  /// Both clips, one of them in the foreground.
  public private(set) var player: MomentPlayer?
  /// The comments, the newest first.
  public private(set) var comments: [Row<Comment>] = []
  /// The reactions, the newest first.
  public private(set) var reactions: [Row<ImageRecord>] = []

  private let app: AppModel
  private let id: String

  /// Makes a model of a post.
  public init(app: AppModel, id: String) { (self.app, self.id) = (app, id) }

  private var posts: Posts { app.client.posts }

  /// Reads the moment, and what others say about it.
  public func load() async {
    await app.attempt {
      async let row = posts.row(id, include: [.author, .mine])
      async let comments = posts.comments(on: id, include: [.author]).page().rows
      async let reactions = posts.reactions(to: id, include: [.author]).page().rows
      (self.row, self.comments, self.reactions) = try await (row, comments, reactions)
      show()
    }
  }

  /// Has a player of the moment as it is now: at the first look it does not know yet how the times of the clips belong together.
  private func show() {
    var next = row.flatMap { MomentPlayer($0.record) }
    // A tap that has swapped the cameras outlasts a reload.
    if let player, next?.foreground == player.background { next?.swap() }
    player = next
  }

  /// Swaps the cameras.
  public func swap() { player?.swap() }

  /// Likes it, or does not any more.
  public func toggleLike() async {
    guard let row else { return }
    await app.attempt {
      try await posts.setLike(!row.isLiked, of: id)
      self.row = try await posts.row(id, include: [.author, .mine])
    }
  }

  /// Comments on it.
  public func comment(_ text: String) async {
    if await app.attempt({ try await posts.comment(on: id, text) }) { await load() }
  }

  /// Reacts with a selfie.
  public func react(image: URL) async {
    let isReady = await app.attempt {
      _ = try await app.client.uploads.react(to: id, image: image).image
    }
    if isReady { await load() }
  }
}
