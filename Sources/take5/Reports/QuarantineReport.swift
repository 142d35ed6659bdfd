import Crypto
import FoundationEssentials
import MediaProcess
import Model
import Store

/// Quarantined inputs in the output of `take5 quarantine`, and in the file that `export` writes.
struct QuarantineReport: Encodable {
  struct Input: Encodable {
    /// The name of the exported file.
    let name: InputName
    let hash: String
    let bytes: Int64
  }

  struct Definition: Encodable {
    let name: String
    let version: Int
    let hash: String
  }

  let hash: String
  let kind: QuarantinedMedia.Kind
  let inputs: [Input]
  let code: ReasonCode
  let error: String
  let stage: String?
  let signal: String?
  let limits: MediaCrash.Limits?
  let crashes: Int
  let definition: Definition
  let foreground: Camera?
  /// The version of take5.
  let version: String
  let firstAt: Date
  let lastAt: Date
  let quarantinedAt: Date
  /// The command that repeats the crash with the exported files.
  let command: String

  /// - Parameter folder: the folder of the exported files; nil: the one that the text names.
  init(_ media: QuarantinedMedia, in folder: String? = nil) {
    hash = media.hash.hex
    kind = media.kind
    inputs = media.inputs.compactMap { input in
      guard case .source(let name) = input.role.kind else { return nil }
      return Input(name: name, hash: input.hash.hex, bytes: input.bytes)
    }
    code = media.crash.code
    error = media.crash.error
    stage = media.crash.stage
    signal = media.crash.signal
    limits = media.crash.limits.flatMap { try? JSON.decode(MediaCrash.Limits.self, from: Array($0.utf8)) }
    crashes = media.crashes
    definition = Definition(
      name: media.definitionName, version: media.definitionVersion, hash: media.definition.hex)
    foreground = media.foreground
    version = media.version
    firstAt = media.firstAt
    lastAt = media.lastAt
    quarantinedAt = media.quarantinedAt
    command = Self.command(media, inputs.map(\.name), limits, in: folder ?? Self.shortened(hash))
  }

  /// The first digits of a hash, which identify it in lists.
  static func shortened(_ hash: String) -> String { String(hash.prefix(12)) }

  private static func command(
    _ media: QuarantinedMedia, _ inputs: [InputName], _ limits: MediaCrash.Limits?, in folder: String
  ) -> String {
    func path(_ name: String) -> String { ShellWord.quoted("\(folder)/\(name)") }
    let files = inputs.map { path($0.rawValue) }
    let isProbe = media.crash.stage == MediaCrash.Stage.probe.rawValue
    var words = ["take5"]
    switch media.kind {
    case .moment where isProbe: words += ["validate"] + files
    case .clip: words += ["inspect"] + files
    case .moment:
      words += ["compose"] + files + ["--outputs", path("outputs")]
      if let foreground = media.foreground { words += ["--foreground", foreground.rawValue] }
    case .photo: words += ["photo"] + files + ["--output", path("outputs")]
    }
    words += ["--definition", path(QuarantineExport.definition)]
    if let limits { words += ["--media-memory", "\(limits.memory >> 20)"] }
    return words.joined(separator: " ")
  }

  /// A table of quarantined inputs.
  static func lines(_ reports: [QuarantineReport]) -> [String] {
    var table = TextTable("HASH", "KIND", "STAGE", "CODE", "SIGNAL", "CRASHES", "QUARANTINED")
    for report in reports {
      table.add(
        shortened(report.hash), report.kind.rawValue, report.stage, report.code.rawValue, report.signal,
        "\(report.crashes)", JSON.text(of: report.quarantinedAt))
    }
    return table.lines
  }

  /// All fields as text, with the commands that repeat the crash.
  var text: String {
    var lines = ["quarantined \(kind.rawValue) \(hash)"]
    func add(_ title: String, _ value: String?) {
      guard let value else { return }
      lines.append("  \(title)\(String(repeating: " ", count: max(1, 12 - title.count)))\(value)")
    }
    for input in inputs { add(input.name.rawValue, "\(input.hash), \(input.bytes) bytes") }
    add("crashes", "\(crashes), \(code.rawValue)")
    add("last error", error)
    add("stage", stage)
    add("signal", signal)
    if let limits {
      add(
        "limits",
        "\(limits.memory >> 20) MiB of memory, \(limits.cpuSeconds) s of CPU, \(limits.deadlineSeconds) s, "
          + "\(limits.fileSize >> 20) MiB for a file")
    }
    add("definition", "\(definition.name) \(definition.version), \(definition.hash)")
    add("foreground", foreground?.rawValue)
    add("version", version)
    add("first crash", JSON.text(of: firstAt))
    add("last crash", JSON.text(of: lastAt))
    add("quarantined", JSON.text(of: quarantinedAt))
    let short = Self.shortened(hash)
    add("repeat", "take5 quarantine export \(short) --to \(short)")
    add("", command)
    return lines.joined(separator: "\n")
  }
}
