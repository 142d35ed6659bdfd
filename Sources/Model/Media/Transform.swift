import Glibc

/// One of the eight ways in which a camera may lay its picture into the file.
///
/// Upright is reached by mirroring the coded picture left to right if `mirrored`, and then turning it clockwise.
package struct Transform: Codable, Sendable, Hashable {
  /// A clockwise turn in degrees.
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

  /// Whether width and height change places.
  package var swapsAxes: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// As a person says it.
  package var words: String {
    let turn = "\(rotation.rawValue) degrees clockwise"
    if !mirrored { return turn }
    return rotation == .none ? "mirrored" : "mirrored, then \(turn)"
  }

  /// Reads a display matrix of nine numbers, as in a track header (ISO/IEC 14496-12, 8.3.2) and libavutil/display.h.
  ///
  /// The determinant tells a mirrored picture first: the angle alone misreads it. A degenerate matrix is the identity.
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
