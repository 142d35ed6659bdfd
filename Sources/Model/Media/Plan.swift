/// What a definition and the facts of the inputs become: everything that a run does, as plain data.
///
/// The same definition and facts give the same plan.
package struct Plan: Codable, Sendable, Hashable {
  package var definition: String
  package var version: Int
  package var limits: Limits
  /// The inputs that are decoded, each once.
  package var inputs: [InputName: InputPlan]
  /// How two clips are checked to be one moment; nil for one clip.
  package var moment: Definition.Moment?
  /// The composed videos, both arrangements at most; the stills and the preview are taken from the first.
  package var compositions: [CompositionPlan]
  package var clips: [ClipPlan]
  package var stills: [StillPlan]
  package var preview: PreviewPlan?
  /// What was chosen in planning, and why.
  package var decisions: [Decision]

  package init(
    definition: String, version: Int, limits: Limits, inputs: [InputName: InputPlan],
    moment: Definition.Moment? = nil, compositions: [CompositionPlan] = [], clips: [ClipPlan] = [],
    stills: [StillPlan] = [], preview: PreviewPlan? = nil, decisions: [Decision]
  ) {
    self.definition = definition
    self.version = version
    self.limits = limits
    self.inputs = inputs
    self.moment = moment
    self.compositions = compositions
    self.clips = clips
    self.stills = stills
    self.preview = preview
    self.decisions = decisions
  }

  /// The roles of the outputs that the run writes, in a fixed order.
  package var outputs: [Role] {
    compositions.map(\.role) + clips.map(\.role) + stills.map(\.role) + (preview.map { [$0.role] } ?? [])
  }

  /// The first composed video.
  package var composition: CompositionPlan? { compositions.first }
}
