/// What a job of a run throws that is meant to fail.
struct HandlerError: Error, CustomStringConvertible {
  var description: String { "it was meant to fail" }
}
