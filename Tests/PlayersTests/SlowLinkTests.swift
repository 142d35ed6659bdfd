import AV
import Definitions
import FoundationEssentials
import Glibc
import HTTPServer
import HTTPTesting
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Players behind a slow link", .tags(.players), .serialized)
struct SlowLinkTests {
  /// Of the link, in bits per second, with the chunks' lengths of HTTP.
  private static let rate = 1.6e6

  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  /// Two clips in which no frame is like another, with as much sound as phones record.
  private static func noise() throws -> Submission {
    @Sendable func clip(_ color: MarkColor) throws -> OpenFile {
      var clip = MarkedClip(color, tone: .init(440))
      clip.isNoise = true
      clip.firstNumber = color == .red ? 0 : 60
      clip.tone?.room = (start: 0, seed: 7)
      clip.tone?.bitRate = 256_000
      return try clip.write()
    }
    return Submission.moment(
      "noise", front: { try clip(.red) }, back: { try clip(.blue) }, definition: try Definitions.take5Post())
  }

  /// Whether more processes run than there are processors.
  private static var isBusy: Bool {
    var load = 0.0
    return getloadavg(&load, 1) == 1 && load > Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  @Test("Chromium plays the small rendition from its first byte without a stall, and stalls in the large composition")
  func small() async throws {
    let submissions = try [#require(try Submission.samples().first), Self.noise()]
    let outputs = try await inPairs(submissions) { submission in
      try await onThread("make") { try submission.outputs() }
    }.flatMap(\.self)
    let small = outputs.filter { $0.name.hasSuffix(" composed.small") }
    let large = outputs.filter { $0.name == "samples composed" }
    #expect(small.count == 2 && large.count == 1)
    // Load makes a player wait, and never hides that it must: one run without a stall shows that the bytes come in time.
    var played: [SlowResult] = []
    for _ in 1...(Self.isBusy ? 3 : 1)
    where played.isEmpty || played.prefix(2).contains(where: { !$0.isSmooth }) {
      played = try await SlowPlayback(small + large, bitsPerSecond: Self.rate).run()
      try #require(played.count == 3, "\(played)")
    }
    for (output, result) in zip(small, played) {
      print("\(output.name): \(result)")
      #expect(result.error == nil && result.stalls == 0, "\(output.name): \(result)")
      #expect(result.frames == output.frames, "\(output.name): \(result)")
      // The index and the first frames.
      #expect((result.start ?? 9) < 1.5, "\(output.name): \(result)")
      #expect((result.played ?? 9) < (output.seconds ?? 0) + 0.5, "\(output.name): \(result)")
    }
    // The link is slow, and a stall is seen.
    print("\(large[0].name): \(played[2])")
    #expect((played[2].stalls ?? 0) > 0, "\(played[2])")
  }
}

/// The result of the page for one file.
struct SlowResult: Decodable, Sendable {
  let error: String?
  /// How often it waited for data after its start.
  let stalls: Int?
  let frames: Int?
  let dropped: Int?
  /// Its duration, the time to its first frame, and from there to its end.
  let seconds: Double?
  let start: Double?
  let played: Double?

  /// Whether it began early and played without a stall.
  var isSmooth: Bool { stalls == 0 && (start ?? 9) < 1.5 && (played ?? 9) < (seconds ?? 0) + 0.5 }
}

/// One run of the browser over a page that plays files behind a slow link.
private final class SlowPlayback: Sendable {
  private let outputs: [Output]
  private let link: SlowLink
  private let browser = Browser()
  private let received = Locked<[Int: SlowResult]>([:])

  init(_ outputs: [Output], bitsPerSecond: Double) {
    self.outputs = outputs
    link = SlowLink(bitsPerSecond: bitsPerSecond)
  }

  /// The results, in the order of the files.
  func run() async throws -> [SlowResult] {
    _ = try await withServer(router: router) { server in
      try await browser.open("http://127.0.0.1:\(server.port)/page")
    }
    return received.withLock { results in outputs.indices.compactMap { results[$0] } }
  }

  private var router: Router {
    get {
      let numbers = outputs.indices.map(String.init).joined(separator: ",")
      return Router(routes: [
        Route("GET", "/page", admission: Route.open) { _ in
          Response(.ok, headers: ["Content-Type": "text/html"], body: .bytes(PackageResources.slow_html))
        },
        Route("GET", "/files", admission: Route.open) { _ in .json(.ok, Array("[\(numbers)]".utf8)) },
        Route("GET", "/files/{index}", admission: Route.open) { request in
          let output = self.outputs[Int(request.parameter("index")) ?? 0]
          let file = OpenFile(try Descriptor(reading: output.path))
          let representation = Representation(
            length: try file.descriptor.size(), entityTag: EntityTag(strong: request.parameter("index")),
            headers: ["Content-Type": output.type])
          return try await representation.respond(to: request) { self.link.body(of: file, $0) }
        },
        Route("POST", "/files/{index}", bodyLimit: 4096, admission: Route.open) { request in
          let body = try await request.body.collect(upTo: 4096)
          let result = try JSONDecoder().decode(SlowResult.self, from: Data(body))
          self.received.withLock { $0[Int(request.parameter("index")) ?? -1] = result }
          return Response(.noContent)
        },
        Route("POST", "/end", admission: Route.open) { _ in
          self.browser.end()
          return Response(.noContent)
        },
      ])
    }
  }
}
