import Glibc

/// One of the eight orientations of a coded frame or photo.
///
/// A coded frame becomes upright if it is mirrored left to right, in case of `mirrored`, and then rotated clockwise.
package struct Transform: Codable, Sendable, Hashable {
  /// A clockwise rotation in degrees.
  package enum Rotation: Int, Codable, Sendable, CaseIterable {
    case none = 0
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  package let rotation: Rotation
  package let mirrored: Bool

  package static let identity = Transform(rotation: .none, mirrored: false)

  package init(rotation: Rotation, mirrored: Bool) {
    self.rotation = rotation
    self.mirrored = mirrored
  }

  /// Whether width and height are exchanged.
  package var swapsAxes: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// A description for people. It is part of decisions, and so of recipes.
  package var summary: String {
    let turned = "\(rotation.rawValue) degrees clockwise"
    if !mirrored { return turned }
    return rotation == .none ? "mirrored" : "mirrored, then \(turned)"
  }

  /// Whether a display matrix is one of the eight orientations at any scale; players turn clips by other angles, or not at all.
  package static func isExact(displayMatrix matrix: [Int32]) -> Bool {
    guard matrix.count == 9 else { return true }
    let isStraight = matrix[1] == 0 && matrix[3] == 0
    let isTurned = matrix[0] == 0 && matrix[4] == 0
    return isStraight != isTurned
  }

  /// Reads a display matrix of nine numbers, as in a track header (ISO/IEC 14496-12, 8.3.2) and libavutil/display.h.
  ///
  /// The sign of the determinant shows mirroring; the angle alone does not. A degenerate matrix gives the identity.
  package init(displayMatrix matrix: [Int32]) {
    guard matrix.count == 9 else {
      self = .identity
      return
    }
    let (a, b, c, d) = (Double(matrix[0]), Double(matrix[1]), Double(matrix[3]), Double(matrix[4]))
    let determinant = a * d - b * c
    guard determinant != 0 else {
      self = .identity
      return
    }
    let mirrored = determinant < 0
    let sign: Double = mirrored ? -1 : 1
    let quarters = Int((atan2(sign * b, sign * a) / (.pi / 2)).rounded())
    self.mirrored = mirrored
    switch ((quarters % 4) + 4) % 4 {
    case 1: rotation = .quarter
    case 2: rotation = .half
    case 3: rotation = .threeQuarters
    default: rotation = .none
    }
  }
}
