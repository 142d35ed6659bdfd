/// The API key. It is never an argument, because every user of the machine can list the arguments of a process.
enum APIKey {
  /// The key in `TAKE5_API_KEY`, or in the first line of the file of `--api-key-file`; nil if neither is given. Of the
  /// file only the option takes precedence over the variable.
  static func read(_ arguments: Arguments) throws(CommandFailure) -> String? {
    let file = arguments.setting(Option.apiKey.name)
    if let key = arguments.variable(OtherVariable.apiKey.name), file?.source.rank != 0 { return key }
    return try file.map { file throws(CommandFailure) in try SecretFile(path: file.text).line(of: .apiKey) }
  }
}
