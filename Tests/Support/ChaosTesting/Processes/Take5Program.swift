/// The shipped program, as it was built beside whatever runs now.
enum Take5Program {
  /// Its path.
  static let path = ChaosProgram.folder + "/take5"
}
