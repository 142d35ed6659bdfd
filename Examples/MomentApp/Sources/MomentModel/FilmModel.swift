import Foundation
import Observation
import Take5Client

/// The screen that films: two files become a moment, whose progress it shows.
@MainActor @Observable
public final class FilmModel {
  /// A moment that was filmed in this run of the app.
  public struct Moment: Identifiable, Sendable {
    /// The id in the queue.
    public let id: UUID
    /// How far it is.
    public internal(set) var progress: UploadProgress
    /// The post once there is something to see, and then once it is ready.
    public internal(set) var post: Post?
    /// Why it was refused.
    public internal(set) var refusal: String?
  }

  /// The latest first.
  public private(set) var moments: [Moment] = []
  private let app: AppModel

  /// Makes a model.
  public init(app: AppModel) { self.app = app }

  /// Submits both clips of a moment, and follows it until it is ready.
  public func film(
    front: URL, back: URL, caption: String, foreground: Camera = .front, location: Coordinate? = nil
  ) async {
    await app.attempt {
      let upload = try await app.client.uploads.film(
        front: front, back: back, caption: caption, foreground: foreground, location: location, visibility: .friends)
      moments.insert(Moment(id: upload.id, progress: UploadProgress()), at: 0)
      await follow(upload)
    }
  }

  private func follow(_ upload: Upload<Post>) async {
    for await progress in upload.progress { change(upload.id) { $0.progress = progress } }
    do throws(Take5Error) {
      let look = try await upload.look
      change(upload.id) { $0.post = look }
      let post = try await upload.post
      change(upload.id) {
        $0.post = post
        $0.refusal = post.reasons.first?.detail
      }
    } catch {
      change(upload.id) { $0.refusal = "\(error.message) \(error.remedy)" }
    }
  }

  private func change(_ id: UUID, _ change: (inout Moment) -> Void) {
    if let index = moments.firstIndex(where: { $0.id == id }) { change(&moments[index]) }
  }
}
