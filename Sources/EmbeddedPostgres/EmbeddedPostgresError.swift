import Glibc
package import Platform

/// An error of the embedded PostgreSQL, with a remedy.
package struct EmbeddedPostgresError: Error, Sendable, CustomStringConvertible {
  package let message: String
  package let remedy: String?
  /// Whether the data folder has no database and the configuration does not create one.
  package let isMissing: Bool

  package init(_ message: String, remedy: String? = nil, isMissing: Bool = false) {
    self.message = message
    self.remedy = remedy
    self.isMissing = isMissing
  }

  package init(_ error: SystemError) {
    let remedy: String? =
      switch error.code {
      case ENOSPC, EDQUOT: "The disk or the quota is full: free space, or choose another folder with --data"
      case EROFS: "The file system is read-only: remount it, or choose another folder with --data"
      case EACCES, EPERM: "Run as the owner of the data folder, or choose another folder with --data"
      case EMFILE, ENFILE: "Too many open files: raise the limit (ulimit -n)"
      default: nil
      }
    self.init("the data folder of PostgreSQL cannot be used (\(error))", remedy: remedy)
  }

  /// The error of a data folder without a database.
  static func missing(in folder: String) -> EmbeddedPostgresError {
    EmbeddedPostgresError("no store in \(folder)", isMissing: true)
  }

  /// Wraps an error unless it is an `EmbeddedPostgresError`.
  init(causedBy error: any Error) {
    switch error {
    case let error as EmbeddedPostgresError: self = error
    case let error as SystemError: self.init(error)
    default: self.init("\(error)")
    }
  }

  package var description: String { remedy.map { "\(message). \($0)" } ?? message }
}

/// The last error of a server or of `initdb` that ended before it was ready, from its log.
struct StartFailure: Equatable {
  /// The message, details and hints as sentences, without time and severity.
  let message: String
  /// Nil if none is known.
  let remedy: String?

  /// Finds the last error in a log; nil if it contains none.
  init?(log: String) {
    var sentences: [String] = []
    var lastNote = ""
    for line in log.split(separator: "\n") {
      let errors = ["] FATAL:  ", "] PANIC:  ", "initdb: error: ", "initdb: could not look up ", "postgres: "]
      if let text = Self.text(of: line, errors) {
        // The refusal of a client during startup or shutdown, not the error of the server.
        if text.hasPrefix("the database system is ") { continue }
        // "contains errors" and "could not create any sockets" need the line before them.
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
      // The server writes time and process id before the mark; a program's line begins with it.
      if mark.hasPrefix("]"), let range = line.firstRange(of: mark) { return String(line[range.upperBound...]) }
      if line.hasPrefix(mark) { return String(line.dropFirst(mark.count)) }
    }
    return nil
  }

  private static func remedy(for message: String) -> String? {
    remedies.first { phrases, _ in phrases.contains { message.contains($0) } }?.remedy
  }

  // The first match counts: missing resources come before damaged files.
  private static let remedies: [(phrases: [String], remedy: String)] = [
    (["No space left on device", "Disk quota exceeded"], "Free disk space on the file system of the data folder"),
    (
      ["Read-only file system"],
      "The file system is read-only: remount it, or choose another folder with --data"
    ),
    (
      ["effective user ID"],
      "PostgreSQL needs a user with a name: add the id to /etc/passwd, run as one that is there (870 in the image), or name a database "
        + "of your own with --database"
    ),
    (["invalid permissions"], "Remove the permissions of group and others with chmod 0700"),
    (["wrong ownership"], "Change the owner of the folder to the user who runs the server with chown --recursive"),
    (
      ["Permission denied"],
      "Change the owner of the folder and its content to the user who runs the server with chown --recursive"
    ),
    (
      ["not compatible with", "incompatible with server"],
      "Install the version that created the database, or set TAKE5_POSTGRES_BIN to its folder"
    ),
    (["shared memory block"], "End the PostgreSQL processes that still use the folder of the database"),
    (
      ["shared memory segment", "anonymous shared memory", "Cannot allocate memory"],
      "Give the machine or the container more memory, or a larger /dev/shm (for a container: --shm-size)"
    ),
    (["lock file"], "Another PostgreSQL server uses this folder: stop it"),
    (["contains errors", "configuration parameter"], "Correct or remove the setting"),
    (
      [
        "checkpoint record", "could not open file", "could not read file", "could not open directory", "invalid",
        "checksum",
      ],
      "Files of the database are damaged or missing: restore a backup with 'take5 restore'"
    ),
  ]
}
