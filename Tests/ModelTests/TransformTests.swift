import Model
import Testing

@Suite("Display matrices")
struct TransformTests {
  /// 1.0 as a 16.16 fixed-point number, the format of the first four numbers of a display matrix.
  static let one: Int32 = 65536

  @Test(
    "each of the eight orientations is recognized",
    arguments: [
      ([1, 0, 0, 1], Transform.Rotation.none, false),
      ([0, 1, -1, 0], .quarter, false),
      ([-1, 0, 0, -1], .half, false),
      ([0, -1, 1, 0], .threeQuarters, false),
      ([-1, 0, 0, 1], .none, true),
      ([0, -1, -1, 0], .quarter, true),
      ([1, 0, 0, -1], .half, true),
      ([0, 1, 1, 0], .threeQuarters, true),
    ])
  func decomposes(numbers: [Int32], rotation: Transform.Rotation, mirrored: Bool) {
    let one = Self.one
    let matrix = [
      numbers[0] * one, numbers[1] * one, 0, numbers[2] * one, numbers[3] * one, 0, 0, 0, 1 << 30,
    ]
    #expect(Transform(displayMatrix: matrix) == Transform(rotation: rotation, mirrored: mirrored))
  }

  @Test("a degenerate or short matrix is the identity", arguments: [[Int32](repeating: 0, count: 9), [], [1, 2]])
  func degenerate(matrix: [Int32]) {
    #expect(Transform(displayMatrix: matrix) == .identity)
  }
}
