import Definitions
import Glibc
import MediaFixtures
import Model
import Platform

extension Submission {
  /// The folder that `TAKE5_FIELD_MEDIA` names.
  static let fieldFolder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  /// What phones recorded.
  static func fieldMedia() throws -> [Submission] {
    guard let folder = fieldFolder else { return [] }
    func files(_ kind: String) throws -> [(name: String, open: Clip)] {
      try Folder.names(in: "\(folder)/\(kind)").sorted().map { name in
        (name, { OpenFile(try Descriptor(reading: "\(folder)/\(kind)/\(name)")) })
      }
    }
    var definition = try bothArrangements()
    definition.canvas.width = 540
    definition.canvas.height = 960
    definition.withoutLength()
    definition.outputs.composed?.seconds.shortest = 0.1
    definition.outputs.composedSwapped?.seconds.shortest = 0.1
    var marker = try Definitions.markerVideo()
    marker.withoutLength()
    let photoDefinitions = try photoDefinitions()
    return try files("videos").flatMap { name, open in
      [
        moment(name, front: open, back: { try MarkedClip(.blue).write() }, definition: definition),
        Submission.marker(name, clip: open, definition: marker),
      ]
    } + files("photos").flatMap { name, open in photoDefinitions.map { photo(name, open, definition: $0) } }
  }
}

extension Definition {
  /// Phones' clips are as long as they are.
  fileprivate mutating func withoutLength() {
    limits.seconds = ClosedSeconds(shortest: 0.1, longest: 30)
    limits.differenceSeconds = 30
  }
}
