import Definitions
import Model

/// The definition of moments that `--definition` names, or the built-in one.
enum NamedDefinition {
  /// Reads it. Status 78 if the file cannot be read, or if nothing could be made with it.
  static func read(_ arguments: Arguments) throws(CommandFailure) -> Definition {
    guard let path = arguments.value(Option.definition.name) else {
      do { return try Definitions.take5Post() } catch { throw CommandFailure(error) }
    }
    let text = try InputText.read(path, otherwise: .configuration)
    do {
      let definition = try JSON.decode(Definition.self, written: text)
      try MediaDefinition.clips(definition).checkFaults()
      return definition
    } catch {
      throw CommandFailure(
        .configuration, "\(path) is not a definition: \(JSON.reason(error))",
        remedy: "compare it with the output of 'take5 definition show take5-post'")
    }
  }
}
