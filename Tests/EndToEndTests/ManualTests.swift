import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Manual pages", .tags(.process))
struct ManualTests {
  private func page(_ name: String) async throws -> String {
    let run = try await Take5Command.run(["manual", name])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    return run.output
  }

  @Test("man and mandoc find no fault in the pages", arguments: [("take5", 1), ("take5.conf", 5)])
  func lint(name: String, section: Int) async throws {
    let folder = try TemporaryFolder(prefix: "take5-manual")
    let path = "\(folder.path)/\(name).\(section)"
    let text = try await page(name)
    try Descriptor(writing: path, replacing: false).write(Array(text.utf8))
    let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "HOME": folder.path]
    let man = try await Take5Command.run(
      ["--warnings", "-l", path], program: "/usr/bin/man", environment: environment)
    #expect(man.status == 0 && man.errors.isEmpty, "\(man.errors)")
    #expect(man.output.contains("\(name.uppercased())(\(section))") && man.output.contains("NAME"))
    let lint = try await Take5Command.run(
      ["-Tlint", "-Wwarning", path], program: "/usr/bin/mandoc", environment: environment)
    #expect(lint.status == 0 && lint.output.isEmpty && lint.errors.isEmpty, "\(lint)")
  }

  /// The text of a line without the escapes of roff(7).
  private func unescaped(_ line: some StringProtocol) -> String {
    String(line).replacing("\\-", with: "-").replacing("\\[u2026]", with: "…").replacing("\\(aq", with: "'")
  }

  /// The terms of the parts of a page that begin with a macro.
  private func terms(_ page: String, parts macro: String) -> [(title: String, terms: [String])] {
    var parts: [(title: String, terms: [String])] = []
    var isTerm = false
    for line in page.split(separator: "\n") {
      if line.hasPrefix(".SH") || line.hasPrefix(".SS") {
        parts.append((line.hasPrefix(macro) ? unescaped(line.dropFirst(4)).filter { $0 != "\"" } : "", []))
      } else if isTerm {
        parts[parts.count - 1].terms.append(unescaped(line).replacing("\\fB", with: "").replacing("\\fP", with: ""))
      }
      isTerm = line == ".TP"
    }
    return parts.filter { !$0.title.isEmpty }
  }

  @Test("take5(1) has each command with the options of its --help")
  func commands() async throws {
    let parts = terms(try await page("take5"), parts: ".SS")
    let commands = try await CommandHelp.all()
    #expect(parts.count == commands.count)
    for (part, command) in zip(parts, commands) {
      #expect(part.title == "take5 \(command.name)" || part.title.hasPrefix("take5 \(command.name) "))
      let names = part.terms.map { term in
        term.split(separator: " ").first { $0.hasPrefix("--") }.map(String.init) ?? term
      }
      #expect(names == command.options.map(\.name) + ["--help"], "\(command.name)")
    }
  }

  @Test("take5.conf(5) has each key of the example")
  func keys() async throws {
    let example = try await Take5Command.run(["config", "--example"]).output
    let keys = example.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { line in
      String(line.dropFirst().prefix { $0 != " " })
    }
    let part = terms(try await page("take5.conf"), parts: ".SH").first { $0.title == "KEYS" }
    #expect(part?.terms.map { $0.split(separator: " ").first.map(String.init) ?? "" } == keys)
    #expect(keys.count > 25)
  }
}
