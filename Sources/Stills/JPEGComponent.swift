internal import CJPEG

/// One component of a JPEG as coded.
package struct JPEGComponent: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// What a decoded row takes, padding included.
  package let rowBytes: Int
  /// Rows of it that are decoded at once.
  package let bandRows: Int

  init(_ component: cjpeg_component) {
    width = Int(component.width)
    height = Int(component.height)
    rowBytes = Int(component.row_bytes)
    bandRows = Int(component.band_rows)
  }
}
