import Platform
import Take5Testing
import Testing

/// A document of the project with the commands in it.
struct Document {
  let path: String
  let text: String

  /// The root of the checkout.
  static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  init(_ path: String) throws {
    self.path = path
    text = String(decoding: try Descriptor(reading: "\(Self.root)/\(path)").contents(), as: UTF8.self)
  }

  /// A code block, and the heading above it.
  struct Block {
    let heading: String
    var lines: [String] = []
  }

  /// The lines of the shell code blocks.
  var commands: [String] { lines(of: "sh") }

  /// The lines of the code blocks in a language.
  func lines(of language: String) -> [String] { blocks(of: language).flatMap(\.lines) }

  /// The lines outside of code blocks.
  var prose: String {
    var isFenced = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.hasPrefix("```") { isFenced.toggle() }
      return !isFenced
    }.joined(separator: "\n")
  }

  /// What a link can name: the headings, as GitHub writes them.
  var anchors: Set<String> {
    let headings = prose.matches(of: /(?:^|\n)#+ ([^\n]+)/).map { match in
      match.1.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
    return Set(headings)
  }

  /// The code blocks in a language.
  func blocks(of language: String) -> [Block] {
    var blocks: [Block] = []
    var heading = ""
    var (isFenced, isInside) = (false, false)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isFenced.toggle()
        isInside = isFenced && line == "```\(language)"
        if isInside { blocks.append(Block(heading: heading)) }
      } else if isInside {
        blocks[blocks.count - 1].lines.append(String(line))
      } else if !isFenced && line.hasPrefix("#") {
        heading = String(line.drop { $0 == "#" || $0 == " " })
      }
    }
    return blocks
  }
}

/// The result of running the command line through a shell, which can redirect its streams.
struct ShellRun: Sendable {
  /// The exit status; 124 if the command did not end within the limit.
  let status: Int32
  let output: String
  /// The lines on standard error.
  let errors: [String]

  /// Runs `take5` with arguments.
  ///
  /// - Parameters:
  ///   - redirection: a redirection or pipe in shell syntax, such as `>/dev/full`.
  ///   - limit: the arguments of timeout(1). With `--foreground` the signal is sent only to the command itself.
  static func run(
    _ arguments: [String], _ redirection: String = "", limit: [String] = ["--kill-after=1", "60"],
    environment: [String: String] = [:], in folder: String
  ) async throws -> ShellRun {
    try await onThread("test-shell") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      let errors = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(
        path: "/bin/sh",
        arguments: ["-c", "exec timeout \"$@\" \(redirection)", "sh"] + limit + [Take5Binary.path] + arguments)
      configuration.environment = environment.merging(["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]) { ours, _ in ours
      }
      configuration.directory = folder
      configuration.descriptors = [nil, output.number, errors.number]
      let ending = try ChildProcess(configuration).wait()
      let text = String(decoding: try output.contents(), as: UTF8.self)
      let lines = String(decoding: try errors.contents(), as: UTF8.self).split(separator: "\n").map(String.init)
      guard case .exited(let status) = ending else { return ShellRun(status: 124, output: text, errors: lines) }
      return ShellRun(status: status, output: text, errors: lines)
    }
  }
}
