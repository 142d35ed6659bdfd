/// Which part of an upright picture is taken, and how large it becomes.
package struct PhotoGeometry: Sendable, Hashable {
  package var crop: Rectangle
  package var size: Size

  package init(crop: Rectangle, size: Size) {
    self.crop = crop
    self.size = size
  }

  /// By how much the part is reduced, at least 1.
  package var reduction: Double { Double(crop.width) / Double(size.width) }
}
