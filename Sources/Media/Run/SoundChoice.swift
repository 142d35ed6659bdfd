import Model

/// The sound of a composition, which is chosen when the sounds of both clips are decoded.
struct SoundChoice: Hashable {
  /// The composition with the sound that it has.
  let plan: CompositionPlan
  /// The clip whose sound is silent and not used; nil: the planned sound is used.
  let replaced: InputName?

  /// - Parameter isSilent: whether the sound of an input was decoded and is silent throughout.
  init(_ plan: CompositionPlan, isSilent: (InputName) -> Bool) {
    guard let planned = plan.audio, let other = plan.otherAudio, isSilent(planned.input), !isSilent(other.input) else {
      self.plan = plan
      replaced = nil
      return
    }
    var plan = plan
    plan.audio = other
    self.plan = plan
    replaced = planned.input
  }

  /// The decision to use the other clip's sound; nil if the planned one is used.
  var decision: Decision? {
    guard let replaced, let audio = plan.audio else { return nil }
    return Decision(
      .audio, input: audio.input, choice: audio.mode.rawValue,
      reason: "the \(replaced.rawValue)'s sound is silent throughout: the other's sound in \(plan.role.rawValue)")
  }
}
