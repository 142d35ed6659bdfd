/// What a definition and the facts of the inputs become: everything that a run does, as plain data.
///
/// The same definition and facts give the same plan.
package struct Plan: Codable, Sendable, Hashable {
  package var definition: String
  package var version: Int
  package var limits: Limits
  /// The inputs that are decoded, each once.
  package var inputs: [InputName: InputPlan]
  package var composition: CompositionPlan?
  package var clips: [ClipPlan]
  package var stills: [StillPlan]
  /// What was chosen in planning, and why.
  package var decisions: [Decision]

  package init(
    definition: String, version: Int, limits: Limits, inputs: [InputName: InputPlan], composition: CompositionPlan?,
    clips: [ClipPlan], stills: [StillPlan], decisions: [Decision]
  ) {
    self.definition = definition
    self.version = version
    self.limits = limits
    self.inputs = inputs
    self.composition = composition
    self.clips = clips
    self.stills = stills
    self.decisions = decisions
  }

  /// The roles of the outputs that the run writes, in a fixed order.
  package var outputs: [Role] {
    (composition == nil ? [] : [.composed]) + clips.map(\.role) + stills.map(\.role)
  }
}
