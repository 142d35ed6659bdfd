import Foundation
import Take5Client

extension Phone {
  func url(_ index: Int) -> URL { URL(fileURLWithPath: arguments[index]) }

  /// film FRONT BACK CAPTION: submits a moment, and waits until it is ready.
  func film() async throws {
    let upload = try await client.uploads.film(
      front: url(0), back: url(1), caption: arguments[2],
      location: Coordinate(latitude: 52.52, longitude: 13.4),
      capturedAt: arguments.count > 3 ? Date(timeIntervalSinceNow: -(Double(arguments[3]) ?? 0)) : Date())
    print("queued \(upload.id)")
    try await follow(upload)
  }

  /// Prints how far an upload is, and what has become of its post.
  func follow(_ upload: Upload<Post>) async throws {
    var phase: UploadProgress.Phase?
    for await progress in upload.progress {
      if phase != progress.phase { print("phase \(progress.phase)") }
      phase = progress.phase
      print("sent \(progress.sentBytes) \(progress.totalBytes)")
    }
    print("submitted \(try await upload.submittedID)")
    let look = try await upload.look
    if let player = MomentPlayer(look) { print("starts \(player.start(of: .front)) \(player.start(of: .back))") }
    print("look \(look.status.rawValue) \(look.assets.roles.map(\.rawValue).sorted().joined(separator: ","))")
    let post = try await upload.post
    print("post \(post.id) \(post.status.rawValue)")
    if let player = MomentPlayer(post) {
      print("player \(player.foreground.rawValue) \(player.offset) \(player.duration ?? -1)")
    }
  }

  /// queue FRONT BACK CAPTION: submits a moment, and does not wait for it.
  func queue() async throws {
    let upload = try await client.uploads.film(front: url(0), back: url(1), caption: arguments[2])
    print("queued \(upload.id)")
  }

  /// resume: goes on with the queue until nothing more can be done.
  func resume() async {
    await client.uploads.resume()
    for pending in await client.uploads.pending {
      if let upload = await client.uploads.upload(pending) {
        do { try await follow(upload) } catch { print("error \(error)") }
      }
    }
    await client.uploads.waitUntilIdle()
    await pending()
  }

  func pending() async {
    let pending = await client.uploads.pending
    print("pending \(pending.count)")
    for one in pending {
      print("waits \(one.progress.phase) \(one.failure?.code.rawValue ?? "-") \(one.caption ?? "-")")
    }
  }

  /// together FRONT BACK: two queues of one folder send one moment, once.
  func together() async throws {
    let upload = try await client.uploads.film(front: url(0), back: url(1), caption: "together")
    let other = Take5Client(
      url: URL(string: CommandLine.arguments[2])!, tokens: MemoryTokenStore(try await client.session),
      folder: URL(fileURLWithPath: CommandLine.arguments[3]).appending(path: "queue"))
    await other.uploads.resume()
    await other.uploads.waitUntilIdle()
    print("submitted \(try await upload.submittedID)")
    await pending()
  }

  /// cancel FRONT BACK: ends an upload in its middle.
  func cancel() async throws {
    let upload = try await client.uploads.film(front: url(0), back: url(1), caption: "cancelled")
    for await progress in upload.progress where progress.sentBytes > 0 { break }
    await upload.cancel()
    do { _ = try await upload.post } catch { print("ended \(error)") }
    await pending()
  }

  /// retry: tries again what was refused.
  func retry() async throws {
    for pending in await client.uploads.pending where pending.failure != nil {
      try await client.uploads.retry(pending.id)
    }
    await client.uploads.waitUntilIdle()
    await pending()
  }

  /// react POST IMAGE: reacts with a selfie, and waits until it is ready.
  func react() async throws {
    let upload = try await client.uploads.react(to: arguments[0], image: url(1))
    let image = try await upload.image
    print("image \(image.id) \(image.status) \(image.assets.roles.map(\.rawValue).sorted().joined(separator: ","))")
  }
}
