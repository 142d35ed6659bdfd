import Definitions
import FoundationEssentials
import Glibc
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
    #expect(composed.status == 78 && composed.errors.contains("take5 definition show take5-post"), "\(composed)")
    for (command, path) in [
      (["validate", clip, clip], "definition.json"),
      (["compose", clip, clip, "-o", "\(folder.path)/o.mp4"], "none.json"),
      (["photo", clip, "-o", folder.path], "definition.json"), (["photo", clip, "-o", folder.path], "none.json"),
      (["reprocess", "--data", folder.path], "definition.json"), (["reprocess", "--data", folder.path], "none.json"),
    ] {
      let refused = try await Take5Command.run(command + ["--definition", "\(folder.path)/\(path)"])
      #expect(refused.status == 78 && refused.errors.contains(path), "\(command): \(refused)")
    }
  }

  @Test("values that make nothing are faults with their paths, also for the commands that use the file")
  func values() async throws {
    let text = try await shown("take5-post")
    for (old, new, fault) in [
      (#""preset": "superfast""#, #""preset": "quick""#, "outputs.composed.video.preset: 'quick' is not one of"),
      (#""crf": 23"#, #""crf": -5"#, "outputs.composed.video.crf: -5 is not between 1 and 51"),
      (#""crf": 23"#, #""crf": 99"#, "outputs.composed.video.crf: 99 is not between 1 and 51"),
      (#""deadline_seconds": 120"#, #""deadline_seconds": 0"#, "deadline_seconds: 0 is not between 10 and 86400"),
    ] {
      let checked = try await check(text.replacing(old, with: new), [])
      #expect(checked.status == 1 && checked.output.contains(fault), "\(checked)")
      let clips = ["\(Document.root)/samples/front.mp4", "\(Document.root)/samples/back.mp4"]
      let made = try await Take5Command.run(
        ["compose"] + clips + ["-o", "\(folder.path)/out.mp4", "--definition", "\(folder.path)/definition.json"])
      #expect(made.status == 78 && made.errors.contains(fault), "\(made)")
    }
    let comma = try await check(text.replacing("\"version\": 4,", with: "\"version\": 4"), [])
    #expect(comma.output.contains("line 4, column 3: expected ',' or '}', not '\"'"), "\(comma)")
    let list = try await check("[]", [])
    #expect(list.output.contains("expected an object, not a list"), "\(list)")
    let photo = try await shown("photo-post").replacing("photo-post", with: "photo-pots")
    let unknown = try await check(photo, [])
    #expect(unknown.status == 1 && unknown.output.contains("did you mean 'photo-post'?"), "\(unknown)")
  }

  @Test("'check --try' makes the outputs from the first second of the samples")
  func trial() async throws {
    for (name, outputs) in [
      ("take5-post", ["composed: 1080x1920", "composed.small: 540x960", "preview: "]),
      ("marker-video", ["clip: ", "poster: ", "preview: "]),
      ("photo-post", ["photo.large: ", "photo.square: 150x150"]),
      ("album", []),
    ] {
      let path = "\(Document.root)/jobs/\(name).json"
      let run = try await Take5Command.run(["definition", "check", path, "--try"], in: Document.root)
      #expect(run.status == 0, "\(name): \(run)")
      for output in outputs { #expect(run.output.contains("makes \(output)"), "\(name): \(run)") }
    }
    let text = try await shown("take5-post").replacing(#""width": 1080"#, with: #""width": 540"#)
    _ = try await check(text)
    let changed = try await Take5Command.run(
      ["definition", "check", "\(folder.path)/definition.json", "--try", "--json"], in: Document.root)
    let made = try json(changed)["made"]?.items ?? []
    #expect(made.first { $0["role"]?.text == "composed" }?["width"]?.number == 540, "\(changed)")
    guard access("/usr/share/doc/take5/examples", F_OK) != 0 else { return }
    let elsewhere = try await check(text, ["--try"])
    #expect(elsewhere.status == 66 && elsewhere.errors.contains("samples/front.mp4"), "\(elsewhere)")
  }

  @Test("two files of a folder with one name are refused, and both are named")
  func twice() async throws {
    let files = "\(folder.path)/definitions"
    try Folder.make(files)
    let text = try await shown("take5-post")
    for name in ["take5-post.json", "take5-post.old.json"] {
      try Descriptor(writing: "\(files)/\(name)", replacing: true).write(Array(text.utf8))
    }
    let run = try await Take5Command.run(["definition", "list", "--definitions", files])
    #expect(run.status == 78, "\(run)")
    #expect(
      run.errors.contains("\(files)/take5-post.json and \(files)/take5-post.old.json both have the name 'take5-post'"),
      "\(run)")
  }

  @Test("a fault has a code and a path for programs")
  func codes() async throws {
    let text = try await shown("take5-post")
    let reaction = try await shown("reaction")
    for (text, code, path) in [
      ("{", "not_json", nil),
      (text.replacing(#""corner""#, with: #""cornr""#), "missing_key", "outputs.composed.inset.corner"),
      (text.replacing(#""top-left""#, with: #""bottom""#), "wrong_value", "outputs.composed.inset.corner"),
      (text.replacing(#""top-left""#, with: "7"), "wrong_type", "outputs.composed.inset.corner"),
      (text.replacing(#""keep_sources""#, with: #""keepsources": 1, "keep_sources""#), "unknown_key", "keepsources"),
      (reaction.replacing(#""keep_sources""#, with: #""moderation": "hold", "keep_sources""#), "unfit", nil),
    ] as [(String, String, String?)] {
      let result = try json(try await check(text))
      #expect(result["code"]?.text == code && result["path"]?.text == path, "\(code): \(result)")
    }
  }

  @Test("'write' writes the built-in definitions into a folder, which replaces no file of it unless it is asked to")
  func write() async throws {
    let files = "\(folder.path)/definitions"
    let one = try await Take5Command.run(["definition", "write", "reaction", "--to", files])
    #expect(one.status == 0 && one.output == "\(files)/reaction.json\n", "\(one)")
    let all = try await Take5Command.run(["definition", "write", "--to", files])
    #expect(all.status == 74 && all.errors.contains("reaction.json already exists"), "\(all)")
    #expect(try Folder.names(in: files) == ["reaction.json"])
    #expect(try await Take5Command.run(["definition", "write", "--to", files, "--force"]).status == 0)
    let names = try await Take5Command.run(["definition", "list"]).output.split(separator: "\n").dropFirst()
    #expect(try Folder.names(in: files).count == names.count)
    for name in try Folder.names(in: files) {
      let text = String(decoding: try Descriptor(reading: "\(files)/\(name)").contents(), as: UTF8.self)
      #expect(text == (try Document("jobs/\(name)").text))
    }
    let wrong = try await Take5Command.run(["definition", "write", "take5-pots", "--to", files])
    #expect(wrong.status == 66 && wrong.errors.contains("did you mean 'take5-post'?"), "\(wrong)")
    #expect(try await Take5Command.run(["definition", "write", "take5-post"]).status == 64)
  }

  @Test("'list' and 'show' have the definitions of the configuration, and what stops a service stops them")
  func configured() async throws {
    let (files, kinds) = ("\(folder.path)/definitions", "\(folder.path)/kinds")
    for path in [files, kinds] { try Folder.make(path) }
    let text = try await shown("photo-post").replacing(#""version": 2"#, with: #""version": 41"#)
    try Descriptor(writing: "\(files)/mine.json", replacing: true).write(Array(text.utf8))
    let album = try await shown("album").replacing(#""album""#, with: #""mixtape""#)
    try Descriptor(writing: "\(kinds)/mixtape.json", replacing: true).write(Array(album.utf8))
    let configuration = try Clips.write(
      Array("definitions = \(files)\ncollections = \(kinds)\n".utf8), "take5.conf", in: folder)
    for options in [["--definitions", files, "--collections", kinds], ["--config", configuration]] {
      let listed = try await Take5Command.run(["definition", "list", "--json"] + options)
      let items = try listed.output.split(separator: "\n").map {
        try JSONDecoder().decode(API.Value.self, from: Data($0.utf8))
      }
      let own = items.filter { $0["file"]?.text != nil }
      #expect(own.compactMap { $0["name"]?.text } == ["photo-post", "mixtape"], "\(listed)")
      #expect(own.first?["version"]?.number == 41 && own.first?["file"]?.text == "\(files)/mine.json", "\(listed)")
      #expect(try await Take5Command.run(["definition", "show", "photo-post"] + options).output == text)
      #expect(try await Take5Command.run(["definition", "show", "mixtape"] + options).output == album)
    }
    #expect(try await Take5Command.run(["definition", "show", "mixtape"]).status == 66)
    try Descriptor(writing: "\(files)/broken.json", replacing: true).write(Array("{".utf8))
    let broken = try await Take5Command.run(["definition", "list", "--definitions", files])
    #expect(broken.status == 78 && broken.errors.contains("broken.json"), "\(broken)")
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
