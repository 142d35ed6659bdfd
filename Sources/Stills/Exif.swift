/// The orientation and the identifying fields of Exif data (CIPA DC-008).
package struct Exif: Sendable {
  /// The orientation, 1 to 8, as in TIFF 6.0; 1 if it is missing or invalid.
  package private(set) var orientation = 1
  /// The identifying fields, by name.
  package private(set) var identifying: [(kind: Kind, name: String)] = []

  /// The subject that a field identifies.
  package enum Kind: Sendable {
    case place, device, person, other
  }

  private static let orientationTag = 0x0112
  private static let exifDirectory = 0x8769
  private static let gpsDirectory = 0x8825
  /// The maximum number of directories; cameras write four.
  private static let maxDirectories = 16
  /// The maximum number of fields read in a directory; cameras write far fewer.
  private static let maxFields = 512

  private static let names: [Int: (Kind, String)] = [
    0x010E: (.other, "ImageDescription"), 0x010F: (.device, "Make"), 0x0110: (.device, "Model"),
    0x0131: (.device, "Software"), 0x013B: (.person, "Artist"), 0x013C: (.device, "HostComputer"),
    0x8298: (.person, "Copyright"), 0x927C: (.device, "MakerNote"), 0x9286: (.other, "UserComment"),
    0xA420: (.device, "ImageUniqueID"), 0xA430: (.person, "CameraOwnerName"), 0xA431: (.device, "BodySerialNumber"),
    0xA433: (.device, "LensMake"), 0xA434: (.device, "LensModel"), 0xA435: (.device, "LensSerialNumber"),
    0x02BC: (.other, "XMP"), 0x83BB: (.other, "IPTC"), 0x9C9B: (.other, "XPTitle"), 0x9C9C: (.other, "XPComment"),
    0x9C9D: (.person, "XPAuthor"), 0x9C9E: (.other, "XPKeywords"), 0x9C9F: (.other, "XPSubject"),
  ]

  /// Parses Exif data that start with the byte order mark or with `Exif\0\0`. Damaged data give no fields.
  package init(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes.starts(with: Array("Exif\0\0".utf8)) ? bytes.dropFirst(6) : bytes)
    let isLittle = bytes.starts(with: [0x49, 0x49, 0x2A, 0x00])
    guard isLittle || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) else { return }
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      let value = bytes[offset..<offset + count]
      return isLittle ? value.reversed().reduce(0) { $0 << 8 | Int($1) } : value.reduce(0) { $0 << 8 | Int($1) }
    }
    // Directories may point at each other, so each is read once.
    var pending = [number(4, 4) ?? 0]
    var seen: Set<Int> = []
    while let directory = pending.popLast(), seen.count < Self.maxDirectories, seen.insert(directory).inserted,
      let fields = number(directory, 2)
    {
      for index in 0..<min(fields, Self.maxFields) {
        let field = directory + 2 + 12 * index
        guard let tag = number(field, 2), let value = number(field + 8, 4) else { break }
        switch tag {
        case Self.orientationTag where seen.count == 1:
          // Some programs write it as BYTE (1) or LONG (4), not as SHORT (3).
          let bytes = [1: 1, 4: 4][number(field + 2, 2) ?? 0] ?? 2
          if let found = number(field + 8, bytes), 1...8 ~= found { orientation = found }
        case Self.exifDirectory: pending.append(value)
        case Self.gpsDirectory:
          // Cameras without a position write a directory that has only GPSVersionID (tag 0).
          if let entries = number(value, 2),
            (0..<min(entries, Self.maxFields)).contains(where: {
              number(value + 2 + 12 * $0, 2) != 0
            })
          {
            add(.place, "GPS")
          }
        default:
          if let (kind, name) = Self.names[tag] { add(kind, name) }
        }
      }
    }
  }

  /// Adds a field that was not found before.
  private mutating func add(_ kind: Kind, _ name: String) {
    if !identifying.contains(where: { $0.name == name }) { identifying.append((kind, name)) }
  }
}
