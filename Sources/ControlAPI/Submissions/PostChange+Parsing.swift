internal import HTTPServer
internal import Model

extension PostChange {
  /// Reads a merge patch (RFC 7396): what is absent stays, what is null is taken away; throws a problem that names every
  /// wrong field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    func change<Value>(_ name: String, _ value: Value?) -> Change<Value> {
      fields[name] == nil ? .keep : .set(value)
    }
    let title = reader.text("title", limit: PostDraft.Longest.name)
    let caption = reader.text("caption", limit: PostDraft.Longest.caption)
    let place = reader.object("place", PostDraft.place)
    let visibility = reader.choice("visibility", of: Visibility.self)
    let errors = reader.finish()
    guard errors.isEmpty else { throw JSONBody.problem(errors) }
    self.init(
      title: change("title", title), caption: change("caption", caption), place: change("place", place),
      visibility: visibility)
  }
}
