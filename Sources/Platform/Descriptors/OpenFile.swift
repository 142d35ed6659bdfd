/// An open file that several readers or writers share; it is closed when the last lets go of it.
package final class OpenFile: Sendable {
  /// The descriptor, valid while this object lives.
  package let descriptor: Descriptor

  /// Takes ownership of an open descriptor.
  package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
