/// What a part of a form says about itself (RFC 7578 section 4).
package struct PartHeader: Sendable, Hashable {
  /// The field's name.
  package let name: String
  /// The file's name as the client calls it; never a path to open.
  package let filename: String?
  /// As sent; nil means text/plain.
  package let contentType: String?

  /// Reads the lines of a part's header section, without the blank one.
  init(lines: [ArraySlice<UInt8>]) throws(MultipartError) {
    var fields = HeaderFields()
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .badHeader }
      let name = line[..<colon]
      guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter),
        let value = String(validating: line[(colon + 1)...], as: UTF8.self),
        value.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 })
      else { throw .badHeader }
      fields.append(String(decoding: name, as: UTF8.self), String(value.trimmingBlanks))
    }
    guard let disposition = fields["Content-Disposition"].flatMap(HeaderParameters.init),
      disposition.value == "form-data", let name = disposition["name"], !name.isEmpty
    else { throw .unnamedPart }
    let encoding = fields["Content-Transfer-Encoding"]?.lowercasedASCII ?? "binary"
    guard ["binary", "7bit", "8bit"].contains(encoding) else { throw .encodedPart(name: name) }
    self.name = name
    filename = disposition["filename"]
    contentType = fields["Content-Type"]
  }
}
