import Glibc
import Platform
import PostgresTesting
import Testing

@Suite("Completions of the shells", .tags(.process))
struct CompletionTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-completion")
    try Descriptor(writing: "\(folder.path)/clip.mp4", replacing: false).write([])
    guard mkdir("\(folder.path)/clips", 0o755) == 0 else { throw SystemError(call: "mkdir") }
  }

  @Test("the completion has the words and options of --help", arguments: CompletingShell.allCases)
  func commands(shell: CompletingShell) async throws {
    let commands = try await CommandHelp.all()
    #expect(commands.count > 40)
    var expected: [(line: String, candidates: [String])] = [
      ("take5 ", Set(commands.map { $0.words[0] } + ["--help", "--version"]).sorted()),
      ("take5 --", ["--help", "--version"]),
    ]
    for group in Set(commands.filter { $0.words.count == 2 }.map { $0.words[0] }).sorted() {
      let second = commands.filter { $0.words.count == 2 && $0.words[0] == group }.map { $0.words[1] }
      expected.append(("take5 \(group) ", second.sorted()))
    }
    for command in commands {
      expected.append(("take5 \(command.name) --", (command.options.map(\.name) + ["--help"]).sorted()))
    }
    let found = try await shell.candidates(for: expected.map(\.line), in: folder.path)
    for (expected, found) in zip(expected, found) { #expect(found == expected.candidates, "\(expected.line)") }
  }

  @Test("each option has the fixed values of --help", arguments: CompletingShell.allCases)
  func choices(shell: CompletingShell) async throws {
    var expected: [(line: String, candidates: [String])] = [
      ("take5 serve --log-level ", ["debug", "error", "info", "warning"]), ("take5 serve --log-level d", ["debug"]),
      ("take5 submit post --visibility ", ["friends", "private", "public"]),
      ("take5 jobs list --state ", ["available", "cancelled", "completed", "dead", "executing", "scheduled"]),
      ("take5 jobs list --state dead,s", ["dead,scheduled"]),
      ("take5 completions ", ["bash", "fish", "zsh"]), ("take5 manual ", ["take5", "take5.conf"]),
      ("take5 serve --slots ", []),
    ]
    // zsh adds only the part after the last comma.
    if shell == .zsh { expected[4].candidates = ["scheduled"] }
    for command in try await CommandHelp.all() {
      for option in command.options {
        guard let names = option.placeholder?.split(separator: "|"), names.count > 1, names[0] != "NAME" else {
          continue
        }
        expected.append(("take5 \(command.name) \(option.name) ", names.map(String.init).sorted()))
      }
    }
    #expect(expected.count > 15)
    let found = try await shell.candidates(for: expected.map(\.line), in: folder.path)
    for (expected, found) in zip(expected, found) { #expect(found == expected.candidates, "\(expected.line)") }
  }

  @Test("a file or a folder is offered where an option or an operand is one", arguments: CompletingShell.allCases)
  func files(shell: CompletingShell) async throws {
    let lines = [
      "take5 serve --api-key-file cl", "take5 serve --config cl", "take5 compose -o cl", "take5 compose cl",
      "take5 submit post cl", "take5 serve --data cl", "take5 posts save cl", "take5 serve cl", "take5 jobs show cl",
    ]
    let found = try await shell.candidates(for: lines, in: folder.path).map { candidates in
      Set(candidates.map { $0.filter { $0 != "/" } })
    }
    for index in 0..<5 { #expect(found[index] == ["clip.mp4", "clips"], "\(lines[index])") }
    for index in 5..<7 { #expect(found[index] == ["clips"], "\(lines[index])") }
    for index in 7..<9 { #expect(found[index].isEmpty, "\(lines[index])") }
  }

  @Test("a value after an equals sign is completed", arguments: CompletingShell.allCases)
  func equals(shell: CompletingShell) async throws {
    let found = try await shell.candidates(for: ["take5 serve --sandbox=", "take5 serve --sandbox=r"], in: folder.path)
    let values = found.map { $0.map { $0.replacing("--sandbox=", with: "") } }
    #expect(values == [["available", "off", "required"], ["required"]])
  }
}
