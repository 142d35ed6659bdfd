package import CSystem
import Glibc

/// The text of a file that is a part of the program.
package typealias EmbeddedText = embedded_text

extension embedded_text {
  /// The bytes of the file.
  package var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text))) }
}
