/// A statement with the values of its parameters, which is sent later.
struct BoundStatement {
  let statement: Statement
  /// What the server calls it; nil: it is parsed when it runs.
  let preparedName: String?
  let parameters: [Parameter]
}
