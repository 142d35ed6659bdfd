import FoundationEssentials
import Glibc
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Documents", .tags(.process), .serialized)
struct DocumentationTests {
  @Test(
    "every command in them runs as it stands",
    arguments: ["README.md", "docs/api.md", "docs/operations.md", "docs/reprocessing.md", "docs/backup.md"])
  func commands(path: String) async throws {
    let service = try await Service()
    // The service that the documents start is this one; what builds is looked at below.
    let lines = try Document(path).commands.filter { !$0.hasPrefix("make ") && !$0.hasPrefix("take5 serve") }
    #expect(lines.count > 5)
    let script = lines.joined(separator: "\n").replacing("http://127.0.0.1:8080", with: service.url)
    let run = try await shell(script, service)
    #expect(run.status == 0, "\(run.output)")
    try await service.stop()
    guard path == "docs/api.md" else { return }
    let asked = service.process.log.split(separator: "\n").filter { $0.contains("request  ") }.map(Self.asked)
    for (method, template) in try Self.operations() {
      let segments = template.split(separator: "/")
      let isShown = asked.contains { request in
        request.method == method && request.segments.count == segments.count
          && zip(request.segments, segments).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
      }
      #expect(isShown, "no command asks \(method) \(template)")
    }
  }

  /// The method and the path of a line of the access log.
  private static func asked(_ line: Substring) -> (method: String, segments: [Substring]) {
    func value(_ name: String) -> Substring {
      line.split(separator: " ").first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1) ?? ""
    }
    return (String(value("method")), value("path").split(separator: "/"))
  }

  /// What the API's own document says that there is to be asked.
  private static func operations() throws -> [(method: String, template: String)] {
    let document = try JSONDecoder().decode(
      API.Value.self, from: Data(try Document("Sources/ControlAPI/openapi.json").text.utf8))
    guard case .object(let paths)? = document["paths"] else { return [] }
    return paths.flatMap { template, path -> [(method: String, template: String)] in
      guard case .object(let operations) = path else { return [] }
      return operations.keys.filter { $0 != "parameters" }.map { ($0.uppercased(), template) }
    }
  }

  @Test("every make target they name exists, and every program of the package too")
  func targets() throws {
    let makefile = try Document("Makefile").text
    let manifest = try Document("Package.swift").text
    for path in ["README.md", "samples/README.md", "docs/benchmarks.md"] {
      for line in try Document(path).commands {
        let words = line.split(separator: " ")
        if words.first == "make" { #expect(makefile.contains("\n\(words[1]):"), "\(path): \(line)") }
        if words.starts(with: ["swift", "run"]) { #expect(manifest.contains("\"\(words[4])\""), "\(path): \(line)") }
      }
    }
  }

  @Test("the table of options tells what the verbs take, no more and no less")
  func options() async throws {
    let table = try Document("docs/configuration.md").text
    let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `--") }
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmed }
      let option = cells[0].split(separator: " ")[0].filter { $0 != "`" }
      for verb in cells[3].split(separator: ",").map({ $0.trimmed }) {
        let words =
          verb == "submit" ? ["submit", "post"] : ["jobs", "keys", "cron"].contains(verb) ? [verb, "list"] : [verb]
        let help = try await Take5Command.run(words + ["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("\(option) "), "\(verb) \(option)")
        if cells[1] != "-" { #expect(help.output.contains("$\(cells[1].filter { $0 != "`" })"), "\(verb) \(option)") }
      }
    }
    let help = try await Take5Command.run(["serve", "--help"])
    for line in help.output.split(separator: "\n") where line.hasPrefix("  --") && !line.hasPrefix("  --help") {
      let option = line.dropFirst(2).prefix { $0 != " " }
      #expect(rows.contains { $0.contains("`\(option) ") }, "\(option) is not in the table")
    }
  }

  private func shell(_ script: String, _ service: Service) async throws -> (status: Int32?, output: String) {
    let folder = service.folder.path
    guard symlink("\(Document.root)/samples", "\(folder)/samples") == 0 else { throw SystemError(call: "symlink") }
    guard mkdir("\(folder)/bin", 0o755) == 0, symlink(Take5Binary.path, "\(folder)/bin/take5") == 0 else {
      throw SystemError(call: "symlink")
    }
    return try await onThread("test-shell") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(path: "/bin/sh", arguments: ["-eux", "-c", script])
      configuration.environment = [
        "PATH": "\(folder)/bin:/usr/bin:/bin", "TAKE5_SERVER": service.url, "TAKE5_DATA": service.data,
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
