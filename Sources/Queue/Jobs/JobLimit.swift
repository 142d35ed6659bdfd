/// At max so many jobs of a name are available or executing at a time; the others wait.
package struct JobLimit: Sendable, Hashable {
  package let name: String
  /// At least 1; the last that was said counts.
  package let max: Int

  package init(name: String, max: Int) {
    self.name = name
    self.max = max
  }
}
