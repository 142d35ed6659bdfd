/// Why a server, or initdb, ended before it served: what it said of it itself, and what helps.
struct StartFailure: Equatable {
  /// Without severity and time, with details and hints, as sentences.
  let message: String
  /// Nil where nothing is known that helps.
  let remedy: String?

  /// Finds the last failure in what was logged; nil if nothing in it is one.
  init?(log: String) {
    var sentences: [String] = []
    var lastNote = ""
    for line in log.split(separator: "\n") {
      if let text = Self.text(of: line, ["] FATAL:  ", "] PANIC:  ", "initdb: error: ", "postgres: "]) {
        // Whoever knocks meanwhile is turned away with such a line: it is not the server's end.
        if text.hasPrefix("the database system is ") { continue }
        // "contains errors" and "could not create any sockets" say nothing without the line before.
        sentences =
          text.contains("contains errors") || text.contains("could not create any") ? [lastNote, text] : [text]
      } else if let text = Self.text(of: line, ["] DETAIL:  ", "] HINT:  ", "initdb: detail: ", "initdb: hint: "]) {
        if !sentences.isEmpty { sentences.append(text) }
      } else if let text = Self.text(of: line, ["] LOG:  "]) {
        lastNote = text
      } else if line.first == "\t", let last = sentences.popLast() {
        sentences.append("\(last) \(line.dropFirst())")
      }
    }
    guard !sentences.isEmpty else { return nil }
    message = sentences.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }.joined(separator: ". ")
    remedy = Self.remedy(for: message)
  }

  private static func text(of line: Substring, _ marks: [String]) -> String? {
    for mark in marks {
      // The server puts time and process before the mark, programs begin with it.
      if mark.hasPrefix("]"), let range = line.firstRange(of: mark) { return String(line[range.upperBound...]) }
      if line.hasPrefix(mark) { return String(line.dropFirst(mark.count)) }
    }
    return nil
  }

  private static func remedy(for message: String) -> String? {
    remedies.first { words, _ in words.contains { message.contains($0) } }?.remedy
  }

  // The first that fits counts: what is lacking comes before what is damaged.
  private static let remedies: [(words: [String], remedy: String)] = [
    (["No space left on device", "Disk quota exceeded"], "Make room where the data folder lies"),
    (
      ["Read-only file system"],
      "The file system can only be read: mount it for writing, or choose another folder with --data"
    ),
    (["invalid permissions"], "Take the rights of others away with chmod 0700"),
    (["wrong ownership"], "Give the folder back to the user who runs the server with chown --recursive"),
    (
      ["Permission denied"], "Give the folder and all in it back to the user who runs the server with chown --recursive"
    ),
    (
      ["not compatible with", "incompatible with server"],
      "Install the version with which the data were made, or name its folder in TAKE5_POSTGRES_BIN"
    ),
    (["shared memory block"], "End the processes that still work in the folder of the database"),
    (
      ["/dev/shm", "shared memory segment", "anonymous shared memory", "Cannot allocate memory"],
      "Give the machine or the container more memory, or more room in /dev/shm (for a container: --shm-size)"
    ),
    (["lock file"], "Another PostgreSQL serves this folder: stop it"),
    (["contains errors", "configuration parameter"], "Correct or remove the setting"),
    (
      [
        "checkpoint record", "could not open file", "could not read file", "could not open directory", "invalid",
        "checksum",
      ],
      "Files of the database are damaged or missing: restore a backup (docs/backup.md)"
    ),
  ]
}
