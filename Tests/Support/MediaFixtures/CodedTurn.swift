/// How a camera laid its upright picture into the file, with the display matrix that tells players to undo it.
///
/// The matrix is the definition (ISO/IEC 14496-12, 8.3.2): a coded pixel (x, y) is shown at (a x + c y, b x + d y), moved
/// back into view. Pixels are placed by this rule alone, so that no code under test can cancel its own mistake.
package struct CodedTurn: Hashable, Sendable {
  let a: Int32
  let b: Int32
  let c: Int32
  let d: Int32

  package static let upright = CodedTurn(a: 1, b: 0, c: 0, d: 1)
  /// To be turned clockwise by players.
  package static let quarter = CodedTurn(a: 0, b: 1, c: -1, d: 0)
  package static let half = CodedTurn(a: -1, b: 0, c: 0, d: -1)
  package static let threeQuarters = CodedTurn(a: 0, b: -1, c: 1, d: 0)
  package static let mirrored = CodedTurn(a: -1, b: 0, c: 0, d: 1)
  package static let mirroredQuarter = CodedTurn(a: 0, b: 1, c: 1, d: 0)
  package static let mirroredHalf = CodedTurn(a: 1, b: 0, c: 0, d: -1)
  package static let mirroredThreeQuarters = CodedTurn(a: 0, b: -1, c: -1, d: 0)

  package static let all: [CodedTurn] = [
    .upright, .quarter, .half, .threeQuarters, .mirrored, .mirroredQuarter, .mirroredHalf, .mirroredThreeQuarters,
  ]

  /// The nine numbers in a track header: 16.16 fixed point, the last column 2.30.
  package var displayMatrix: [Int32] { [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30] }

  /// Whether width and height change places.
  package var swapsAxes: Bool { a == 0 }

  /// Where a rectangle of the upright picture lies in the coded one.
  func coded(
    _ rectangle: (x: Int, y: Int, width: Int, height: Int), uprightWidth: Int, uprightHeight: Int
  ) -> (x: Int, y: Int, width: Int, height: Int) {
    // Shown = matrix * coded + shift, where the shift moves negative coordinates back into view; solved for coded.
    let shift = (x: a + c < 0 ? uprightWidth : 0, y: b + d < 0 ? uprightHeight : 0)
    let corners = [(rectangle.x, rectangle.y), (rectangle.x + rectangle.width, rectangle.y + rectangle.height)].map {
      (x, y) in
      // The inverse of an orthogonal matrix is its transpose.
      let (shownX, shownY) = (x - shift.x, y - shift.y)
      return (Int(a) * shownX + Int(b) * shownY, Int(c) * shownX + Int(d) * shownY)
    }
    let x = min(corners[0].0, corners[1].0)
    let y = min(corners[0].1, corners[1].1)
    return (x, y, abs(corners[1].0 - corners[0].0), abs(corners[1].1 - corners[0].1))
  }
}
