import Glibc
import Postgres

extension DoctorCheck {
  /// Checks the configuration file, the values of the options, who can read secrets, and variables that may be misspelt.
  static func configuration(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let arguments = subject.arguments
    let keys = subject.keys
    var results = file(
      arguments.file, failures: ServiceConfiguration.failures(arguments, keys, options: subject.options))
    if let file = arguments.file, let rights = FileRights(file.path) {
      let secrets = file.entries.filter { hasPassword($0, among: keys.options) }.map(\.key)
      results.append(Self.rights(rights, of: file.path, secrets: secrets, user: geteuid()))
    }
    let secretFiles = [Option.apiKey, Option.database.file, Option.listenDatabase.file].compactMap { option in
      arguments.value(option.name).flatMap { path in FileRights(path).map { (option, path, $0) } }
    }
    results += secretFiles.map { secret($0.0, at: $0.1, $0.2) }
    return results + variables(keys.unknownVariables(in: Environment.variables()))
  }

  private static func hasPassword(_ entry: ConfigurationFile.Entry, among options: [Option]) -> Bool {
    guard options.contains(where: { $0.key == entry.key && $0.isSecret }), let url = try? DatabaseURL(entry.value)
    else {
      return false
    }
    // The description omits passwords.
    return url.description != url.connectionString
  }

  /// The faults of the values, or how many the file sets.
  static func file(_ file: ConfigurationFile?, failures: [CommandFailure]) -> [CheckResult] {
    guard failures.isEmpty else { return failures.map { .error("configuration", "options", $0) } }
    let found = file.map { "\($0.path) sets \($0.entries.count) options" } ?? "there is no configuration file"
    return [.ok("configuration", "options", found)]
  }

  /// Whether a user other than the one who runs the service can change the file, or read a password in it.
  static func rights(_ rights: FileRights, of path: String, secrets: [String], user: uid_t) -> CheckResult {
    if rights.mode & (S_IWGRP | S_IWOTH) != 0 || ![0, user].contains(rights.owner) {
      return .warning(
        "configuration", "rights", "other users can change \(path)",
        remedy: "let root or the user of the service own the file, and no one else write it: chmod go-w \(path)")
    }
    guard rights.mode & S_IROTH == 0 || secrets.isEmpty else {
      return .warning(
        "configuration", "rights", "every user can read the password in \(secrets.joined(separator: ", ")) of \(path)",
        remedy: "name a file with \(secrets.map { "\($0)-file" }.joined(separator: ", ")), or run chmod o-r \(path)")
    }
    return .ok("configuration", "rights", "no other user can change \(path)")
  }

  /// Whether every user can read a file with a secret.
  static func secret(_ option: Option, at path: String, _ rights: FileRights) -> CheckResult {
    let name = option.key ?? option.name
    guard rights.mode & (S_IROTH | S_IWOTH) == 0 else {
      return .warning(
        "configuration", name, "every user can read \(path)", remedy: "run chmod o-rwx \(path), and replace the secret")
    }
    return .ok("configuration", name, "not every user can read \(path)")
  }

  /// A warning for each variable that is near to one of ours.
  static func variables(_ unknown: [(name: String, nearest: String?)]) -> [CheckResult] {
    unknown.compactMap { name, nearest in
      nearest.map {
        .warning(
          "configuration", "variables", "the variable \(name) is unknown",
          remedy: "if \($0) is meant, correct the name; otherwise another program reads it")
      }
    }
  }
}
