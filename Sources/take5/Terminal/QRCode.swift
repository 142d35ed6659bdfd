import CQREncode
import Platform

/// A QR code (ISO/IEC 18004; libqrencode) as lines for a terminal.
struct QRCode {
  /// The dark modules, row by row.
  private let rows: [[Bool]]

  /// The width of the light border, in modules, which readers need.
  private static let border = 4
  /// Black on bright white, whatever the colours of the terminal are (ECMA-48, section 8.3.117).
  private static let (colours, reset) = ("\u{1B}[30;107m", "\u{1B}[0m")

  private static let isInstalled = SharedLibraries.openIfInstalled("libqrencode.so.4")

  /// Encodes a text; nil if the library is not installed, or if the text is too long.
  init?(_ text: String) {
    guard Self.isInstalled, let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    let modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
    // The lowest bit of a module is its colour.
    let dark = modules.map { $0 & 1 == 1 }
    rows = (0..<width).map { row in Array(dark[(row * width)...].prefix(width)) }
  }

  /// The lines: two rows of modules are one line, since a cell of a terminal is twice as high as wide.
  var lines: [String] {
    let width = rows.count + 2 * Self.border
    let empty = [[Bool]](repeating: [Bool](repeating: false, count: width), count: Self.border)
    let side = [Bool](repeating: false, count: Self.border)
    var all = empty + rows.map { side + $0 + side } + empty
    if !all.count.isMultiple(of: 2) { all.append(empty[0]) }
    return stride(from: 0, to: all.count, by: 2).map { index in
      let cells = zip(all[index], all[index + 1]).map { upper, lower in
        switch (upper, lower) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return Self.colours + cells.joined() + Self.reset
    }
  }
}
