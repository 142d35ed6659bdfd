import Foundation
import MomentModel
import Take5Client
import Testing

/// Drives the model of the app against the service whose URL is in TAKE5_URL, with the clips in the folder TAKE5_SAMPLES.
@MainActor @Suite("The model of the app")
struct MomentModelTests {
  let app: AppModel
  let samples: URL
  let selfie: URL

  init() throws {
    let environment = ProcessInfo.processInfo.environment
    let url = try #require(environment["TAKE5_URL"].flatMap { URL(string: $0) })
    samples = URL(fileURLWithPath: try #require(environment["TAKE5_SAMPLES"]))
    selfie = URL(fileURLWithPath: try #require(environment["TAKE5_SELFIE"]))
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    app = AppModel(client: Take5Client(url: url, tokens: MemoryTokenStore(), folder: folder))
  }

  func registered(_ name: String) async throws -> String {
    await app.register(name: name + UUID().uuidString.prefix(8), password: "correct horse")
    return try #require(app.user, "\(app.banner ?? "")")
  }

  func filmed(_ caption: String) async throws -> Post {
    let film = FilmModel(app: app)
    await film.film(
      front: samples.appending(path: "front.mp4"), back: samples.appending(path: "back.mp4"), caption: caption,
      foreground: .back, location: Coordinate(latitude: 52.52, longitude: 13.4))
    let moment = try #require(film.moments.first)
    #expect(moment.progress.fraction == 1 && moment.refusal == nil, "\(moment)")
    let post = try #require(moment.post)
    #expect(post.status == .ready && post.caption == caption && post.foreground == .back)
    return post
  }

  @Test("a name that is taken, and a wrong password, say what to do")
  func refusals() async throws {
    _ = try await registered("ada")
    let name = try #require(try await app.client.users.user().userName)
    await app.register(name: name, password: "correct horse")
    #expect(app.banner?.contains("Choose another user name.") == true, "\(app.banner ?? "")")
    await app.signOut()
    #expect(app.user == nil)
    await app.signIn(name: name, password: "wrong horse")
    #expect(app.banner?.contains("Correct the user name or the password.") == true, "\(app.banner ?? "")")
    await app.signIn(name: name, password: "correct horse")
    #expect(app.user != nil && app.banner == nil)
    #expect(app.window?.isOpen == false)
  }

  @Test("a moment is on the map and in the calendar")
  func map() async throws {
    let user = try await registered("bea")
    let post = try await filmed("Dusk")
    let map = MapModel(app: app)
    let berlin = [(52.4, 13.3), (52.4, 13.5), (52.6, 13.5), (52.6, 13.3)]
    await map.load(polygon: berlin.map { Coordinate(latitude: $0.0, longitude: $0.1) }, author: user)
    #expect(map.pins.map(\.id) == [post.id], "\(app.banner ?? "")")
    #expect(map.pins.first?.assets[.image]?.placeholder != nil)
    await map.load(
      polygon: berlin.map { Coordinate(latitude: $0.0, longitude: $0.1) },
      near: Coordinate(latitude: 52.5, longitude: 13.4), author: user)
    #expect(map.pins.first?.distance != nil, "\(app.banner ?? "")")
    let calendar = CalendarModel(app: app)
    let today = Foundation.Calendar.current.dateComponents([.year, .month], from: Date())
    await calendar.load(year: try #require(today.year), month: try #require(today.month))
    #expect(calendar.days.last?.post == post.id, "\(app.banner ?? "")")
  }

  @Test("a moment has comments, likes and reactions, and its cameras swap")
  func details() async throws {
    _ = try await registered("cleo")
    let moment = DetailsModel(app: app, id: try await filmed("Noon").id)
    await moment.load()
    #expect(moment.player?.foreground == .back && moment.row?.isLiked == false, "\(app.banner ?? "")")
    moment.swap()
    await moment.toggleLike()
    await moment.comment("Where is that?")
    await moment.react(image: selfie)
    #expect(moment.row?.isLiked == true && moment.player?.foreground == .front)
    #expect(moment.comments.map(\.text) == ["Where is that?"])
    #expect(moment.comments.first?.authorProfile?.userName?.hasPrefix("cleo") == true)
    #expect(moment.reactions.count == 1, "\(app.banner ?? "")")
    let counts = try #require(moment.row?.counts)
    #expect((counts.comments, counts.reactions, counts.likes) == (1, 1, 1))
  }
}
