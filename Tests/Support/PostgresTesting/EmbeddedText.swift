package import CSystem

extension embedded_text {
  /// Text like that of a file of the program; it stays for as long as the process.
  package init(_ bytes: [UInt8]) {
    let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count + 1)
    _ = copy.initialize(from: bytes.map { CChar(bitPattern: $0) } + [0])
    self.init(text: UnsafePointer(copy.baseAddress!))
  }
}
