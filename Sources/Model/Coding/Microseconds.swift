package import FoundationEssentials

extension Date {
  /// The microseconds since 1970, as the database and cursors have them; of a time that 64 bits do not reach, the nearest.
  package var microseconds: Int64 {
    let number = (timeIntervalSince1970 * 1e6).rounded()
    return Int64(exactly: number) ?? (number < 0 ? .min : .max)
  }
}
