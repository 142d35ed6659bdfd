/// How long an image of a GIF is shown, and what becomes of it then (GIF89a, 23).
package struct GIFControl: Sendable, Hashable {
  /// The change of the area of an image before the next one is drawn.
  package enum Disposal: Sendable {
    case keep
    /// It becomes transparent.
    case clear
    /// It becomes what it was before the image was drawn.
    case restore
  }

  /// The index of the colour that is transparent.
  package var transparent: UInt8?
  package var disposal = Disposal.keep
  /// In hundredths of a second.
  package var delay = 0

  /// The control of an image that has none.
  init() {}

  /// - Parameter block: of the extension, of 4 bytes or more.
  init(_ block: ArraySlice<UInt8>) {
    let bytes = Array(block.prefix(4))
    if bytes[0] & 1 == 1 { transparent = bytes[3] }
    // Browsers read a method of 4, which some encoders write, as 3, and others as none.
    switch bytes[0] >> 2 & 7 {
    case 2: disposal = .clear
    case 3, 4: disposal = .restore
    default: break
    }
    delay = Int(bytes[1]) | Int(bytes[2]) << 8
  }
}
