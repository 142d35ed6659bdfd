extension Plan {
  /// The plan for the first look: the outputs of this plan that are made without composing and encoding video, with the same bytes.
  ///
  /// It decodes only the frames that the stills show, and judges nothing: that is left to the run of this plan. Nil if nothing is left.
  package var look: Plan? {
    var look = self
    look.isLook = true
    look.moment = nil
    look.compositions = []
    look.rendition = nil
    look.clips.removeAll { $0.mode != .remux }
    look.stills.removeAll { $0.input == nil }
    look.preview = nil
    for input in inputs.keys {
      look.inputs[input]?.readsAudio = look.clips.contains { $0.audio?.input == input }
    }
    return look.outputs.isEmpty ? nil : look
  }

  /// The parts of a plan for the first look, one for each input with outputs, in the order of their names.
  package var looks: [Plan] {
    inputs.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { input -> Plan? in
      var part = self
      part.inputs = inputs.filter { $0.key == input }
      part.clips.removeAll { $0.input != input }
      part.stills.removeAll { $0.input != input }
      part.decisions.removeAll { $0.input != input }
      return part.outputs.isEmpty ? nil : part
    }
  }
}

extension PhotoPlan {
  /// The plan for the first look: the small variants, with the same bytes; nil if there are none.
  ///
  /// It has all variants, as the photo is decoded to the size of the largest one, from which the others are made.
  package var look: PhotoPlan? {
    var look = self
    look.isLook = true
    look.preview = nil
    return look.outputs.isEmpty ? nil : look
  }
}

extension PhotoVariant {
  /// The longer edge up to which a variant is part of the first look, in pixels.
  private static let maxLookEdge = 720

  /// Whether the variant is part of the first look.
  var isSmall: Bool { longEdge ?? square ?? 0 <= Self.maxLookEdge }
}
