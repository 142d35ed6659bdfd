/// The rotation and mirroring between the coded and the displayed frame, as a display matrix.
///
/// The definition is ISO/IEC 14496-12, 8.3.2: a coded pixel (x, y) is displayed at (a x + c y, b x + d y), translated
/// back into the visible area. Fixtures draw by this formula and not by the code under test, so that errors cannot
/// cancel out.
package struct CodedRotation: Hashable, Sendable {
  let a: Int32
  let b: Int32
  let c: Int32
  let d: Int32

  package static let upright = CodedRotation(a: 1, b: 0, c: 0, d: 1)
  /// Displayed with a clockwise rotation by 90 degrees.
  package static let quarter = CodedRotation(a: 0, b: 1, c: -1, d: 0)
  package static let half = CodedRotation(a: -1, b: 0, c: 0, d: -1)
  package static let threeQuarters = CodedRotation(a: 0, b: -1, c: 1, d: 0)
  package static let mirrored = CodedRotation(a: -1, b: 0, c: 0, d: 1)
  package static let mirroredQuarter = CodedRotation(a: 0, b: 1, c: 1, d: 0)
  package static let mirroredHalf = CodedRotation(a: 1, b: 0, c: 0, d: -1)
  package static let mirroredThreeQuarters = CodedRotation(a: 0, b: -1, c: -1, d: 0)

  package static let all: [CodedRotation] = [
    .upright, .quarter, .half, .threeQuarters, .mirrored, .mirroredQuarter, .mirroredHalf, .mirroredThreeQuarters,
  ]

  /// The nine numbers of the track header: 16.16 fixed point, 2.30 in the last column.
  package var displayMatrix: [Int32] { [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30] }

  /// Whether width and height are exchanged.
  package var swapsAxes: Bool { a == 0 }

  /// Returns the rectangle of the coded frame for a rectangle of the upright frame.
  func coded(
    _ rectangle: (x: Int, y: Int, width: Int, height: Int), uprightWidth: Int, uprightHeight: Int
  ) -> (x: Int, y: Int, width: Int, height: Int) {
    // displayed = matrix * coded + shift, where the shift makes negative coordinates positive; solved for coded.
    let shift = (x: a + c < 0 ? uprightWidth : 0, y: b + d < 0 ? uprightHeight : 0)
    let corners = [(rectangle.x, rectangle.y), (rectangle.x + rectangle.width, rectangle.y + rectangle.height)].map {
      (x, y) in
      // The inverse of an orthogonal matrix is its transpose.
      let (shiftedX, shiftedY) = (x - shift.x, y - shift.y)
      return (Int(a) * shiftedX + Int(b) * shiftedY, Int(c) * shiftedX + Int(d) * shiftedY)
    }
    let x = min(corners[0].0, corners[1].0)
    let y = min(corners[0].1, corners[1].1)
    return (x, y, abs(corners[1].0 - corners[0].0), abs(corners[1].1 - corners[0].1))
  }
}
