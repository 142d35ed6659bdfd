extension Definition {
  /// The settings of one output. Its case corresponds to the kind of its role.
  package enum Output: Encodable, Sendable, Hashable {
    case composed(Composed)
    case rendition(Rendition)
    case clip(Clip)
    case still(Still)
    case preview(Preview)

    package func encode(to encoder: any Encoder) throws {
      switch self {
      case .composed(let settings): try settings.encode(to: encoder)
      case .rendition(let settings): try settings.encode(to: encoder)
      case .clip(let settings): try settings.encode(to: encoder)
      case .still(let settings): try settings.encode(to: encoder)
      case .preview(let settings): try settings.encode(to: encoder)
      }
    }
  }

  /// The outputs by role; a role without a value is not made. The JSON is an object with the roles as keys.
  package struct Outputs: Codable, Sendable, Hashable {
    private var settings: [Role: Output] = [:]

    package subscript(role: Role) -> Output? {
      get { settings[role] }
      set { settings[role] = newValue }
    }

    /// The roles that have a value, in the order of `Role.outputs`.
    package var roles: [Role] { Role.outputs.filter { settings[$0] != nil } }

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(_ role: Role) { stringValue = role.rawValue }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      for role in Role.outputs {
        let key = Key(role)
        settings[role] =
          switch role.kind {
          case .composed: try container.decodeIfPresent(Composed.self, forKey: key).map(Output.composed)
          case .rendition: try container.decodeIfPresent(Rendition.self, forKey: key).map(Output.rendition)
          case .clip: try container.decodeIfPresent(Clip.self, forKey: key).map(Output.clip)
          case .still: try container.decodeIfPresent(Still.self, forKey: key).map(Output.still)
          case .preview: try container.decodeIfPresent(Preview.self, forKey: key).map(Output.preview)
          case .source, .variant, .photoPreview: nil
          }
      }
    }

    package func encode(to encoder: any Encoder) throws { try settings.encode(to: encoder) }
  }
}

extension Definition {
  /// The roles of the outputs that a run makes from the definition's inputs, in the order of `Role.outputs`.
  package var madeRoles: [Role] { outputs.made(from: Set(inputs.keys)) }
}

extension Definition.Outputs {
  /// The roles of the outputs that can be made from these inputs, in the order of `Role.outputs`.
  ///
  /// - Parameter requested: the outputs to make; nil: all. The composed video is made in addition if one of them is
  ///   taken from it.
  func made(from inputs: Set<InputName>, requested: Set<Role>? = nil) -> [Role] {
    func isRequested(_ role: Role) -> Bool { requested?.contains(role) ?? true }
    let showsComposition = roles.contains { isRequested($0) && self[$0]?.source == .composed }
    let chosen = roles.filter { isRequested($0) || $0 == .composed && showsComposition }
    let composes = inputs.isSuperset(of: [.front, .back])
    let hasComposition = composes && chosen.contains { self[$0]?.composed != nil }
    return chosen.filter { role in
      switch role.kind {
      case .composed: composes
      case .clip(let input): inputs.contains(input)
      case .rendition: hasComposition
      case .still, .preview: self[role]?.source?.input.map(inputs.contains) ?? hasComposition
      case .source, .variant, .photoPreview: false
      }
    }
  }
}

// The settings by type; nil if the output is of another kind.
extension Definition.Output {
  package var composed: Definition.Composed? {
    get { if case .composed(let settings) = self { settings } else { nil } }
    set { if let newValue { self = .composed(newValue) } }
  }

  package var rendition: Definition.Rendition? {
    get { if case .rendition(let settings) = self { settings } else { nil } }
    set { if let newValue { self = .rendition(newValue) } }
  }

  package var clip: Definition.Clip? {
    get { if case .clip(let settings) = self { settings } else { nil } }
    set { if let newValue { self = .clip(newValue) } }
  }

  package var still: Definition.Still? {
    get { if case .still(let settings) = self { settings } else { nil } }
    set { if let newValue { self = .still(newValue) } }
  }

  package var preview: Definition.Preview? {
    get { if case .preview(let settings) = self { settings } else { nil } }
    set { if let newValue { self = .preview(newValue) } }
  }

  /// The video that a rendition, a still or a preview is taken from.
  var source: Definition.Still.Source? { still?.from ?? preview?.from ?? (rendition == nil ? nil : .composed) }
}
