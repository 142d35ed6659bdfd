/// The settings of single rooms, by operators. A room gives its setting a name here, in an extension.
package struct RoomSettings: Sendable {
  private var values: [ObjectIdentifier: any RoomSetting] = [:]

  package init() {}

  /// The setting of a type; as it is made without arguments if none is set.
  package subscript<Setting: RoomSetting>(_ type: Setting.Type) -> Setting {
    get { values[ObjectIdentifier(type)] as? Setting ?? Setting() }
    set { values[ObjectIdentifier(type)] = newValue }
  }
}

/// A setting of a room, by operators.
package protocol RoomSetting: Sendable {
  init()

  /// Parses the value of its option; nil for one of another format.
  init?(_ text: String)
}
