/// The id of an element of EBML, with the marker of its length (RFC 8794, 5; RFC 9559, 5.1).
struct ElementID: Hashable, Sendable {
  private let code: UInt32

  init(_ code: UInt32) { self.code = code }

  static let header = ElementID(0x1A45_DFA3)
  static let documentType = ElementID(0x4282)
  static let void = ElementID(0xEC)
  static let checksum = ElementID(0xBF)

  static let segment = ElementID(0x1853_8067)
  static let seekHead = ElementID(0x114D_9B74)
  static let info = ElementID(0x1549_A966)
  static let tracks = ElementID(0x1654_AE6B)
  static let cluster = ElementID(0x1F43_B675)
  static let cues = ElementID(0x1C53_BB6B)
  static let chapters = ElementID(0x1043_A770)
  static let tags = ElementID(0x1254_C367)
  static let attachments = ElementID(0x1941_A469)

  static let timestampScale = ElementID(0x2A_D7B1)
  static let date = ElementID(0x4461)
  static let title = ElementID(0x7BA9)

  static let trackEntry = ElementID(0xAE)
  static let trackNumber = ElementID(0xD7)
  static let trackType = ElementID(0x83)
  static let codec = ElementID(0x86)
  static let contentEncodings = ElementID(0x6D80)
  static let video = ElementID(0xE0)
  static let pixelWidth = ElementID(0xB0)
  static let pixelHeight = ElementID(0xBA)

  static let timestamp = ElementID(0xE7)
  static let simpleBlock = ElementID(0xA3)
  static let blockGroup = ElementID(0xA0)
  static let block = ElementID(0xA1)

  static let tag = ElementID(0x7373)
  static let simpleTag = ElementID(0x67C8)
  static let tagName = ElementID(0x45A3)

  private static let names: [ElementID: String] = [
    header: "EBML", void: "Void", checksum: "CRC-32", segment: "Segment", seekHead: "SeekHead", info: "Info",
    tracks: "Tracks", cluster: "Cluster", cues: "Cues", chapters: "Chapters", tags: "Tags", attachments: "Attachments",
    timestamp: "Timestamp", simpleBlock: "SimpleBlock", blockGroup: "BlockGroup", block: "Block",
  ]

  /// The elements that stand in a segment, before and between clusters: one of them ends a cluster of unknown size.
  static let partsOfSegment: Set<ElementID> = [
    seekHead, info, tracks, cluster, cues, chapters, tags, attachments,
  ]
}

extension ElementID: CustomStringConvertible {
  /// The name, or the id in hexadecimal digits.
  var description: String { Self.names[self] ?? "0x\(String(code, radix: 16, uppercase: true))" }
}
