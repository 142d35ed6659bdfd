import FoundationEssentials
import Glibc
import HTTPServer
import HTTPTesting
import Platform

extension Judge {
  /// Chromium, which plays all outputs in one run.
  static let chromium = Judge(
    "chromium", reads: ["video/mp4", "image/jpeg", "image/webp", "image/avif"]
  ) { outputs in
    let showing = Showing(outputs)
    let said = try await withServer(router: showing.router) { server in
      try await showing.run(port: server.port)
    }
    let shown = showing.shown
    return zip(outputs.indices, outputs).map { index, output in
      guard let shown = shown[index] else { return ["was not shown"] + said }
      if let error = shown.error { return [error] }
      // Its rounding of samples that are wider than high may be a pixel off; sound may end a frame after the video.
      let sizes = [("width", shown.width, output.width), ("height", shown.height, output.height)]
      let late = 0.05 + output.soundFrameSeconds
      return sizes.flatMap { difference($0, $1.map(Double.init), Double($2), within: 1) }
        + difference("frames", shown.frames, output.frames)
        + difference("seconds", shown.seconds, output.seconds, within: late)
        + difference("has sound", shown.sound.map { $0 > 0 }, output.frames.map { _ in output.soundSeconds != nil })
    }
  }
}

/// What the page tells of a file.
private struct Shown: Decodable, Sendable {
  let error: String?
  let width: Int?
  let height: Int?
  let seconds: Double?
  let frames: Int?
  /// How many bytes of it were decoded.
  let sound: Int?
}

/// One run of the browser over a page that the tests serve.
private final class Showing: Sendable {
  private let outputs: [Output]
  private let told = Locked<[Int: Shown]>([:])
  /// The browser's process while it runs.
  private let browser = Locked<Int32?>(nil)

  init(_ outputs: [Output]) { self.outputs = outputs }

  /// By the index of the output.
  var shown: [Int: Shown] { told.withLock { $0 } }

  var router: Router {
    get {
      let list = outputs.enumerated().map { index, output in
        #"{"number":\#(index),"url":"/files/\#(index)","type":"\#(output.type)"}"#
      }
      return Router(routes: [
        Route("GET", "/page") { _ in
          Response(.ok, headers: ["Content-Type": "text/html"], body: .bytes(PackageResources.page_html))
        },
        Route("GET", "/files") { _ in .json(.ok, Array("[\(list.joined(separator: ","))]".utf8)) },
        Route("GET", "/files/{index}") { request in try self.send(request) },
        Route("POST", "/files/{index}", bodyLimit: 4096) { request in
          let body = try await request.body.collect(upTo: 4096)
          let shown = try JSONDecoder().decode(Shown.self, from: Data(body))
          self.told.withLock { $0[Int(request.parameter("index")) ?? -1] = shown }
          return Response(.noContent)
        },
        Route("POST", "/end") { _ in
          self.browser.withLock { if let id = $0 { kill(id, SIGTERM) } }
          return Response(.noContent)
        },
      ])
    }
  }

  private func send(_ request: Request) throws -> Response {
    let output = outputs[Int(request.parameter("index")) ?? 0]
    let file = try Descriptor(reading: output.path)
    let representation = Representation(
      length: try file.size(), entityTag: EntityTag(strong: request.parameter("index")),
      headers: ["Content-Type": output.type])
    let region = FileRegion(file, offset: 0, count: representation.length)
    return try representation.respond(to: request) { .file(try region.part($0)) }
  }

  /// Opens the page, which ends the browser when it is at its end; returns what the browser said last.
  func run(port: UInt16) async throws -> [String] {
    let words = [
      "--headless", "--disable-gpu", "--disable-audio-output", "--autoplay-policy=no-user-gesture-required",
      "--user-data-dir=\(OutputFolder.path)/profile",
    ]
    let run = try await Program.run(
      "chromium", words + (geteuid() == 0 ? ["--no-sandbox"] : []) + ["http://127.0.0.1:\(port)/page"], seconds: 600
    ) { id in self.browser.withLock { $0 = id } }
    browser.withLock { $0 = nil }
    return run.errors.suffix(3)
  }
}
