internal import Model

/// The composition as take5 makes it: the program with its media process, all outputs of the built-in definition.
struct Take5Run {
  let program: String
  let footage: PhoneFootage
  let folder: String

  /// Where an output is written to.
  func path(of role: Role) -> String {
    role == .composed ? "\(folder)/composed.mp4" : "\(folder)/outputs/\(role.fileName)"
  }

  /// What is run.
  var commands: [Command] {
    let arguments = [
      "compose", footage.front, footage.back, "-o", path(of: .composed), "--outputs", "\(folder)/outputs",
      "--json",
    ]
    return [Command(path: program, arguments: arguments, log: "\(folder)/log")]
  }
}
