import Definitions
import FoundationEssentials
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Definition commands", .tags(.process))
struct DefinitionCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(prefix: "take5-definition") }

  private func json(_ command: Take5Command) throws -> API.Value {
    try JSONDecoder().decode(API.Value.self, from: Data(command.output.utf8))
  }

  private func shown(_ name: String) async throws -> String {
    let run = try await Take5Command.run(["definition", "show", name])
    #expect(run.status == 0, "\(run)")
    return run.output
  }

  private func check(_ text: String, _ more: [String] = ["--json"]) async throws -> Take5Command {
    let path = "\(folder.path)/definition.json"
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
    return try await Take5Command.run(["definition", "check", path] + more)
  }

  @Test("every built-in definition is listed, is printed as it stands in jobs/, and is the same as itself")
  func builtIn() async throws {
    // The texts of notifications are no definition.
    let files = try Folder.names(in: "\(Document.root)/jobs")
      .filter { $0.hasSuffix(".json") && $0 != "notifications.json" }.map { $0.dropLast(5) }
    let listed = try await Take5Command.run(["definition", "list"])
    let names = listed.output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
    #expect(listed.status == 0 && Set(names) == Set(files) && names.first == "take5-post", "\(listed)")
    for name in files.map(String.init) {
      let text = try await shown(name)
      #expect(text == (try Document("jobs/\(name).json").text))
      let checked = try await check(text)
      #expect(checked.status == 0, "\(checked)")
      let result = try json(checked)
      #expect(result["name"]?.text == name && result["differences"] == .array([]), "\(checked)")
    }
    let wrong = try await Take5Command.run(["definition", "show", "take5-pots"])
    #expect(wrong.status == 66 && wrong.errors.contains("did you mean 'take5-post'?"), "\(wrong)")
  }

  @Test("a changed definition is valid, and each change is named with its path and both values")
  func changed() async throws {
    let original = try await shown("take5-post")
    let text = original.replacing(#""top-left""#, with: #""bottom-right""#)
    try #require(text != original)
    let checked = try await check(text)
    #expect(checked.status == 0)
    let differences = try json(checked)["differences"]?.items ?? []
    #expect(
      differences.map { $0["path"]?.text } == ["outputs.composed.inset.corner"]
        && differences[0]["built_in"]?.text == #""top-left""# && differences[0]["file"]?.text == #""bottom-right""#,
      "\(checked)")
    let lines = try await check(text, []).output
    #expect(lines.contains(#"  outputs.composed.inset.corner: "top-left" → "bottom-right""#), "\(lines)")
    let renamed = try await check(original.replacing(#""take5-post""#, with: #""mine""#), [])
    #expect(renamed.status == 0 && renamed.output.contains("no built-in definition has this name"), "\(renamed)")
  }

  @Test("a fault is named with its path and what is expected there, and so is a key that has no effect")
  func faults() async throws {
    let text = try await shown("take5-post")
    let corner = try await check(text.replacing(#""top-left""#, with: #""bottom""#), [])
    #expect(corner.status == 1, "\(corner)")
    #expect(
      corner.output.contains(
        "outputs.composed.inset.corner: 'bottom' is not one of top-left, top-right, bottom-left, bottom-right"),
      "\(corner)")
    let misspelt = try await check(text.replacing(#""corner""#, with: #""cornr""#), [])
    #expect(misspelt.status == 1 && misspelt.output.contains("outputs.composed.inset.corner is missing"), "\(misspelt)")
    let unused = try await check(text.replacing(#""keep_sources""#, with: #""keepsources": 1, "keep_sources""#))
    #expect(unused.status == 1, "\(unused)")
    #expect(try json(unused)["unused"] == .array([.string("keepsources")]), "\(unused)")
    // An image cannot be held, although its definition can be read.
    let reaction = try await shown("reaction")
    let held = try await check(reaction.replacing(#""keep_sources""#, with: #""moderation": "hold", "keep_sources""#))
    #expect(held.status == 1 && held.output.contains("only posts can be held"), "\(held)")
    #expect(try await check("{").status == 1)
    #expect(try await Take5Command.run(["definition", "check", "\(folder.path)/none.json"]).status == 66)
    let clip = "\(Document.root)/samples/front.mp4"
    let composed = try await Take5Command.run(
      ["validate", clip, clip, "--definition", "\(folder.path)/definition.json"])
    #expect(composed.status == 64 && composed.errors.contains("take5 definition show take5-post"), "\(composed)")
  }

  @Test("no message and no comment of the example names a document that the package lacks")
  func documents() async throws {
    let example = try await Take5Command.run(["config", "--example"])
    #expect(example.status == 0 && !example.output.contains("docs/"), "\(example)")
    for command in try await CommandHelp.all() {
      let help = try await Take5Command.run(command.words + ["--help"])
      #expect(!help.output.contains("docs/") && !help.output.contains("jobs/"), "\(command.name)")
    }
  }
}
