import FoundationEssentials
import Glibc
import HTTPClient
import MediaFixtures
import MediaProcess
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Documents", .tags(.process))
struct DocumentationTests {
  @Test(
    "all commands in the documents succeed",
    arguments: [
      ["README.md"],
      ["docs/operations.md", "docs/configuration.md", "docs/definition.md"],
      ["docs/reprocessing.md"],
      ["docs/first-app.md"],
      ["docs/backup.md"],
    ])
  func commands(paths: [String]) async throws {
    // What the README says is that of the built-in definition and the samples.
    let isShipped = paths == ["README.md"]
    let service = try await Service(shipped: isShipped)
    // The service is already running; `make` targets are checked below, Tests/Packaging installs the package, and Tests/console runs
    // what serves the first app.
    let others = [
      "make ", "take5 serve", "sudo ", "take5 submit post /usr/share/doc/", "podman ", "python3 -m http.server",
    ]
    let lines = try paths.flatMap { path in
      try Document(path).commands.joined(separator: "\n").replacing("\\\n", with: " ")
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }.filter { line in
      !others.contains { line.hasPrefix($0) }
    }
    #expect(lines.count > 5)
    let run = try await shell(lines, service, areSamplesShipped: isShipped)
    #expect(run.status == 0, "\(run.output)")
    try await service.stop()
  }

  /// What was requested: the method, and the segments of the path.
  private typealias Request = (method: String, segments: [Substring])

  /// Each example has a service without content, a shell and a folder of its own: it needs nothing that another has made.
  @Test("each example in the documents of the API runs on its own, and together they request every operation")
  func examples() async throws {
    let names = [
      "api", "places", "collections", "moderation", "uploads", "api-events", "api-operating", "webhooks", "window",
      "push", "without-a-back-end",
    ]
    var requests: [Request] = []
    try await withThrowingTaskGroup(of: [Request].self) { group in
      for name in names { group.addTask { try await self.requests(ofExamplesIn: "docs/\(name).md") } }
      for try await some in group { requests += some }
    }
    for (method, template) in try Self.operations() {
      let segments = template.split(separator: "/")
      let isShown = requests.contains { request in
        request.method == method && request.segments.count == segments.count
          && zip(request.segments, segments).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
      }
      #expect(isShown, "no command requests \(method) \(template)")
    }
  }

  /// Runs the examples of a document, one after the other, and returns what was requested.
  private func requests(ofExamplesIn path: String) async throws -> [Request] {
    var requests: [Request] = []
    let examples = try Document(path).blocks(of: "sh")
    #expect(examples.count > 2, "\(path)")
    // Who reads how an app begins types one section after the other, against the same service.
    let session = path.contains("without") ? [Document.Block(heading: "all", lines: examples.flatMap(\.lines))] : []
    for example in examples + session {
      let service = try await Service(path.contains("without") ? ["--accounts", "on"] : [])
      let run = try await shell(["set -o pipefail"] + example.lines, service)
      #expect(run.status == 0, "\(path), '\(example.heading)': \(run.output)")
      try await service.stop()
      let log = service.process.log
      // The commands mint user tokens, get a ticket, make a link and create a key.
      for prefix in ["t5u_", "t5r_", "t5e_", "t5l_", "t5_", "whsec_"] { #expect(!log.contains(prefix), "\(prefix)") }
      requests += log.split(separator: "\n").filter { $0.contains("request  ") }.map(Self.request)
    }
    return requests
  }

  /// The method and the path in a line of the access log.
  private static func request(_ line: Substring) -> Request {
    func value(_ name: String) -> Substring {
      line.split(separator: " ").first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1) ?? ""
    }
    return (String(value("method")), value("path").split(separator: "/"))
  }

  /// The operations of the OpenAPI document.
  private static func operations() throws -> [(method: String, template: String)] {
    let document = try JSONDecoder().decode(
      API.Value.self, from: Data(try Document("Sources/OpenAPI/openapi.json").text.utf8))
    guard case .object(let paths)? = document["paths"] else { return [] }
    return paths.flatMap { template, path -> [(method: String, template: String)] in
      guard case .object(let operations) = path else { return [] }
      return operations.keys.filter { $0 != "parameters" }.map { ($0.uppercased(), template) }
    }
  }

  @Test("SECURITY.md describes every wall, and has a row for it")
  func walls() throws {
    let text = try Document("SECURITY.md").text
    let rows = text.split(separator: "<!-- measured by a test: begin -->").last?.split(separator: "\n").dropFirst(2)
    let names = rows?.prefix { $0.hasPrefix("| ") }.map { $0.split(separator: "`")[1] }
    #expect(names == Wall.allCases.map { Substring($0.rawValue) })
    for wall in Wall.allCases { #expect(text.contains("\n**`\(wall.rawValue)`** "), "\(wall)") }
  }

  @Test("docs/metrics.md lists the metrics of a service")
  func metrics() async throws {
    let service = try await Service()
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    try await service.stop()
    let names = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    let document = try Document("docs/metrics.md").text
    for name in names { #expect(document.contains("`\(name)`"), "\(name)") }
    #expect(names.contains("take5_sandbox_wall"))
  }

  @Test("all make targets and programs in the documents exist")
  func targets() throws {
    let makefile = try Document("Makefile").text
    let manifest = try Document("Package.swift").text
    for path in ["README.md", "samples/README.md", "docs/benchmarks.md"] {
      for line in try Document(path).commands {
        let parts = line.split(separator: " ")
        if parts.first == "make" { #expect(makefile.contains("\n\(parts[1]):"), "\(path): \(line)") }
        if parts.starts(with: ["swift", "run"]) { #expect(manifest.contains("\"\(parts[4])\""), "\(path): \(line)") }
      }
    }
  }

  @Test("all files and headings that the documents name exist")
  func files() throws {
    let folders = ["", "docs/", "docs/decisions/", "docs/benchmarks/"]
    let paths = try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: "\(Document.root)/\(folder)")
        .filter { $0.hasSuffix(".md") }.map { folder + $0 }
    }
    #expect(paths.contains("docs/tour.md"))
    for path in paths {
      let text = try Document(path).prose
      // Names of files stand in backticks; `NAME` and `NN` are for the reader to replace.
      for match in text.matches(of: /`((?:Sources|Tests|Benchmarks|jobs|docs|samples)\/[\w+@.\/-]*)`/)
      where match.1.firstMatch(of: /NAME|NN/) == nil {
        #expect(access("\(Document.root)/\(match.1)", F_OK) == 0, "\(path): \(match.1)")
      }
      let folder = path.split(separator: "/").dropLast().joined(separator: "/")
      for match in text.matches(of: /\]\(([^):#]*)(?:#([^)]+))?\)/) {
        let target = match.1.isEmpty ? path : "\(folder)/\(match.1)"
        #expect(access("\(Document.root)/\(target)", F_OK) == 0, "\(path): \(match.0)")
        guard let anchor = match.2 else { continue }
        #expect(try Document(target).anchors.contains(String(anchor)), "\(path): \(match.0)")
      }
    }
  }

  /// An option of one command, with the environment variable that can replace it.
  private struct DocumentedOption: Hashable {
    let command: String
    let name: String
    let variable: String?
  }

  @Test("docs/configuration.md lists the options of all commands, and no others")
  func options() async throws {
    var actual: [DocumentedOption] = []
    let commands = try await Self.commands()
    for command in commands { actual += try await Self.options(of: command) }
    let documented = try Self.documentedOptions(of: commands)
    #expect(commands.count > 40 && Set(actual).count == actual.count)
    #expect(Set(documented).count == documented.count, "an option of a command is listed twice")
    #expect(Set(actual).subtracting(documented).isEmpty, "not in the tables")
    #expect(Set(documented).subtracting(actual).isEmpty, "not an option of the command")
  }

  /// The names of the commands that `take5 --help` lists. Operands are in upper case or in brackets, and descriptions
  /// start with an upper-case letter.
  private static func commands() async throws -> [String] {
    let help = try await Take5Command.run(["--help"])
    #expect(help.status == 0)
    return help.output.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { line in
      line.split(separator: " ").prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }.joined(separator: " ")
    }
  }

  /// The options that the help of a command lists.
  private static func options(of command: String) async throws -> [DocumentedOption] {
    let help = try await Take5Command.run(command.split(separator: " ").map(String.init) + ["--help"])
    #expect(help.status == 0)
    return help.output.split(separator: "\n").filter { $0.hasPrefix("  -") }.compactMap { line in
      guard let name = line.split(separator: " ").first(where: { $0.hasPrefix("--") }), name != "--help" else {
        return nil
      }
      let variable = line.split(separator: "($").dropFirst().last?.prefix { $0 != ")" && $0 != ";" }
      return DocumentedOption(command: command, name: String(name), variable: variable.map(String.init))
    }
  }

  /// The options in the lists, each with its variable, the commands that take it, and its default.
  private static func documentedOptions(of commands: [String]) throws -> [DocumentedOption] {
    let text = try Document("docs/configuration.md").text
    // Names in capitals stand for several commands.
    let names = Dictionary(
      uniqueKeysWithValues: text.matches(of: /\n- `([A-Z]+)`: ([^\n]+)/).map { ($0.1, $0.2) })
    let items = text.matches(of: /\n- `(--[a-z-]+)[^`]*`(?:, `-o`)?(?:, `(\w+)`)? \(([^;)]+)/)
    #expect(items.count == text.matches(of: /\n- `--/).count)
    return items.flatMap { item -> [DocumentedOption] in
      let named = item.3.split(separator: ",").map { $0.trimmed }
      return named.flatMap { names[$0[...]]?.split(separator: ",").map { $0.trimmed } ?? [$0] }
        .flatMap { text -> [DocumentedOption] in
          let group = text.hasSuffix(" …") ? String(text.dropLast(2)) : nil
          let named = commands.filter { command in
            guard let group else { return command == text }
            return command == group || command.hasPrefix(group + " ")
          }
          if named.isEmpty { Issue.record("unknown command '\(text)' of \(item.1)") }
          return named.map {
            DocumentedOption(command: $0, name: String(item.1), variable: item.2.map { String($0) })
          }
        }
    }
  }

  /// Runs commands that the documents write for the service at the address of the default.
  ///
  /// - Parameter areSamplesShipped: whether the samples are those of the project; otherwise they have a sixteenth of the pixels.
  private func shell(
    _ lines: [String], _ service: Service, areSamplesShipped: Bool = false
  ) async throws -> (status: Int32?, output: String) {
    let script = lines.joined(separator: "\n").replacing("http://127.0.0.1:8080", with: service.url)
    let folder = service.folder.path
    if areSamplesShipped {
      guard symlink("\(Document.root)/samples", "\(folder)/samples") == 0 else { throw SystemError(call: "symlink") }
    } else {
      try Folder.make("\(folder)/samples")
      for (name, clip) in [("front.mp4", Clips.front), ("back.mp4", Clips.back)] {
        // Documents send them in parts.
        let bytes = Clips.padded(try TemporaryFile.bytes(of: clip.write()), by: 800_000, filler: 0)
        _ = try Clips.write(bytes, "samples/\(name)", in: service.folder)
      }
    }
    guard mkdir("\(folder)/bin", 0o755) == 0, symlink(Take5Binary.path, "\(folder)/bin/take5") == 0 else {
      throw SystemError(call: "symlink")
    }
    return try await onThread("test-shell") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(path: "/bin/bash", arguments: ["-eux", "-c", script])
      configuration.environment = [
        "PATH": "\(folder)/bin:/usr/bin:/bin", "TAKE5_SERVER": service.url, "TAKE5_DATA": service.data,
        // Another program may listen on the port of the default.
        "TAKE5_LISTEN": "127.0.0.1:0",
      ]
      configuration.directory = folder
      configuration.descriptors = [nil, output.number, output.number]
      let ending = try ChildProcess(configuration).wait()
      let text = String(decoding: try output.contents(), as: UTF8.self)
      guard case .exited(let status) = ending else { return (nil, text) }
      return (status, text)
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
