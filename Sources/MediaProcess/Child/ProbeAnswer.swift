import Media
import Model
import Platform

/// What one input's headers say, on its way from the thread that read them.
struct ProbeAnswer: Sendable {
  let input: InputName
  let result: Result<Result<ClipFacts, Reason>, MediaError>

  /// Reads the headers.
  init(_ input: InputName, _ file: OpenFile, limits: Limits) {
    self.input = input
    result = Result { () throws(MediaError) in try Prober(limits: limits).probe(file, as: input) }
  }
}
