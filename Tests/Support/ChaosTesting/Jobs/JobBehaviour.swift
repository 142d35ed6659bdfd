/// What a job of a run does to whoever works on it.
package enum JobBehaviour: String, Sendable, Hashable, Codable, CaseIterable {
  /// It completes.
  case works
  /// Its first attempt fails; the next one works.
  case fails
  /// Every attempt fails.
  case breaks
  /// It completes with a refusal, and has no effect.
  case refuses
  /// Half of its attempts put it off; the others work.
  case snoozes
  /// It has itself cancelled while it runs.
  case cancelsItself = "cancels-itself"
  /// It asks its worker to end, where the worker may be asked.
  case drains
}
