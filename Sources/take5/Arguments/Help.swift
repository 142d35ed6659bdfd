/// The texts of `--help`.
enum Help {
  /// Of the command line as a whole.
  static func text(verbs: [Subcommand]) -> String {
    let shown = verbs.filter { !$0.isHidden }
    let width = (shown.map { synopsis($0).count }.max() ?? 0) + 2
    let lines = shown.map { verb in
      let words = synopsis(verb)
      return "  \(words)\(String(repeating: " ", count: width - words.count))\(verb.abstract)"
    }
    return """
      take5: two clips of one moment become one video, over HTTP or on the spot.

      usage: take5 VERB [OPTIONS]

      \(lines.joined(separator: "\n"))

      'take5 VERB --help' tells more. Exit status: 0 done, 1 not whole, 64 wrong usage, 65 media rejected,
      66 input missing, 69 service unavailable, 70 internal fault, 74 file could not be written, 130 stopped while it
      waited.

      """
  }

  /// Of one verb.
  static func text(verb: Subcommand) -> String {
    var text = "\(verb.abstract)\n\nusage: take5 \(synopsis(verb)) [OPTIONS]\n"
    let rows = verb.options.map { option -> (String, String) in
      let short = option.short.map { "\($0), " } ?? ""
      let words = short + option.name + (option.placeholder.map { " \($0)" } ?? "")
      let notes = [option.variable.map { "$\($0)" }, option.fallback.map { "default \($0)" }].compactMap(\.self)
      return (words, option.help + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"))
    }
    let all = rows + [("--help", "this text")]
    let width = (all.map(\.0.count).max() ?? 0) + 2
    text += "\n"
    for (words, help) in all {
      text += "  \(words)\(String(repeating: " ", count: width - words.count))\(help)\n"
    }
    return text + "\nexample: \(verb.example)\n"
  }

  private static func synopsis(_ verb: Subcommand) -> String { ([verb.name] + verb.operands).joined(separator: " ") }
}
