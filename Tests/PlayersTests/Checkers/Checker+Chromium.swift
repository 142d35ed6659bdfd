import FoundationEssentials
import HTTPServer
import HTTPTesting
import Platform

extension Checker {
  /// Chromium, which plays all outputs in one run.
  static let chromium = Checker(
    "chromium", reads: ["video/mp4", "image/jpeg", "image/webp", "image/avif"]
  ) { outputs in
    let session = BrowserSession(outputs)
    let errors = try await withServer(router: session.router) { server in
      try await session.run(port: server.port)
    }
    let results = session.results
    return zip(outputs.indices, outputs).map { index, output in
      guard let result = results[index] else { return ["was not played"] + errors }
      if let error = result.error { return [error] }
      // The size of samples that are not square may be rounded to another pixel; audio may end a frame after the video.
      let sizes = [("width", result.width, output.width), ("height", result.height, output.height)]
      let tolerance = 0.05 + output.audioFrameSeconds
      return sizes.flatMap { difference($0, $1.map(Double.init), Double($2), within: 1) }
        + difference("frames", result.frames, output.frames)
        + difference("seconds", result.seconds, output.seconds, within: tolerance)
        + difference(
          "has audio", result.audioBytes.map { $0 > 0 }, output.frames.map { _ in output.audioSeconds != nil })
    }
  }
}

/// The result of the page for one file.
private struct PlayedFile: Decodable, Sendable {
  let error: String?
  let width: Int?
  let height: Int?
  let seconds: Double?
  let frames: Int?
  /// The number of bytes of audio that were decoded.
  let audioBytes: Int?
}

/// One run of the browser over a page that the tests serve.
private final class BrowserSession: Sendable {
  private let outputs: [Output]
  private let received = Locked<[Int: PlayedFile]>([:])
  private let browser = Browser()

  init(_ outputs: [Output]) { self.outputs = outputs }

  /// The results by the index of the output.
  var results: [Int: PlayedFile] { received.withLock { $0 } }

  var router: Router {
    get {
      let list = outputs.enumerated().map { index, output in
        #"{"number":\#(index),"url":"/files/\#(index)","type":"\#(output.type)"}"#
      }
      return Router(routes: [
        Route("GET", "/page", admission: Route.open) { _ in
          Response(.ok, headers: ["Content-Type": "text/html"], body: .bytes(PackageResources.page_html))
        },
        Route("GET", "/files", admission: Route.open) { _ in .json(.ok, Array("[\(list.joined(separator: ","))]".utf8))
        },
        Route("GET", "/files/{index}", admission: Route.open) { request in try await self.send(request) },
        Route("POST", "/files/{index}", bodyLimit: 4096, admission: Route.open) { request in
          let body = try await request.body.collect(upTo: 4096)
          let result = try JSONDecoder().decode(PlayedFile.self, from: Data(body))
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

  private func send(_ request: Request) async throws -> Response {
    let output = outputs[Int(request.parameter("index")) ?? 0]
    let file = OpenFile(try Descriptor(reading: output.path))
    let representation = Representation(
      length: try file.descriptor.size(), entityTag: EntityTag(strong: request.parameter("index")),
      headers: ["Content-Type": output.type])
    return try await representation.respond(to: request) { .file(FileRegion(file, $0)) }
  }

  /// Opens the page and waits until it has played all files; returns the browser's last lines on standard error.
  func run(port: UInt16) async throws -> [String] {
    try await browser.open("http://127.0.0.1:\(port)/page")
  }
}
