import Model

extension IdentifyingMetadata {
  /// Of an entry of user data (Apple, QuickTime File Format, "User Data Atoms"; 3GPP TS 26.244, clause 8), or of a box of
  /// its kind.
  static func userData(_ box: Box) -> IdentifyingMetadata? {
    let key = box.type.latin
    switch key {
    case "uuid": return named(box.content)
    case "XMP_": return IdentifyingMetadata(kind: xmp(box.content), key: key)
    default: return userData(box.type)
    }
  }

  /// Of an entry of user data by its type alone.
  static func userData(_ type: BoxType) -> IdentifyingMetadata? {
    let key = type.latin
    switch key {
    case "©xyz", "loci", "GPMF", "SGPS", "gps ", "gps0", "GPS ", "udat":
      return IdentifyingMetadata(kind: .place, key: key)
    case "©mak", "©mod", "©swr", "©mal", "©inf", "manu", "modl", "FIRM", "LENS", "CAME", "MUID", "smrd", "smta", "SDLN",
      "SEFD", "sefd", "slmt", "CNDA", "CNCV", "CNTH", "CNMN", "CNFV", "MMA0", "MMA1", "PENT", "PXTH", "PANA", "pana",
      "LEIC", "NCDT", "NCTG", "MVTG", "QVMI", "RICO", "TAGS", "BCID", "SNum", "frea", "vndr":
      return IdentifyingMetadata(kind: .device, key: key)
    case "©ART", "©aut", "©prf", "©src", "©dir", "©prd", "©wrt", "auth", "perf", "saut", "©own", "©phg":
      return IdentifyingMetadata(kind: .person, key: key)
    // When it was, which program wrote it, and how it is played, are told of many.
    case "©too", "©enc", "©day", "date", "yrrc", "free", "skip", "hnti", "hinf", "hinv", "kind", "tsel", "strk", "ptv ",
      "LOOP", "AllF", "SelO", "WLOC":
      return nil
    // The rest may be anything; what is no name is padding.
    default: return type.isName ? IdentifyingMetadata(kind: .other, key: key) : nil
    }
  }

  /// Of a box that is named by the 16 bytes in front of its content (ISO/IEC 14496-12, 11.1).
  static func named(_ content: ArraySlice<UInt8>) -> IdentifyingMetadata {
    let name = content.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    switch name {
    // ISO 16684-1's XMP (Adobe, XMP Specification, part 3).
    case "be7acfcb97a942e89c71999491e3afac": return IdentifyingMetadata(kind: xmp(content.dropFirst(16)), key: "XMP")
    // Canon's, Sony's.
    case "85c0b687820f11e08111f4ce462b6a48", "55534d5421d24fcebb88695cfac9c740":
      return IdentifyingMetadata(kind: .device, key: "uuid")
    default: return IdentifyingMetadata(kind: .other, key: "uuid")
    }
  }

  /// Of an outermost box, where it is not one of those that every film has.
  static func outermost(_ type: BoxType) -> IdentifyingMetadata? {
    switch type {
    case "meta", "udta", "sefd", "gps ", "gps0", "udat", "frea": userData(type)
    default: nil
    }
  }

  /// Of the format of a track that is neither picture nor sound: where the phone was, how it was held, whose face was seen.
  static func timed(_ entry: Box) -> IdentifyingMetadata? {
    let key = entry.type.latin
    switch key {
    case "gpmd", "camm", "GPS ", "gps ", "djmd": return IdentifyingMetadata(kind: .place, key: key)
    case "rtmd", "CTMD", "dbgi", "fdsc": return IdentifyingMetadata(kind: .device, key: key)
    case "mebx":
      let names = entry.children(after: 8).first { $0.type == "keys" }?.children() ?? []
      let keys = names.compactMap { $0.child("keyd") }.compactMap { $0.reader.text(at: 4, count: $0.content.count - 4) }
      let isPlace = keys.contains { IdentifyingMetadata.key($0)?.kind == .place }
      return IdentifyingMetadata(kind: isPlace ? .place : .other, key: key)
    // A clock, and how a server sends the others.
    case "tmcd", "rtp ", "srtp": return nil
    default: return IdentifyingMetadata(kind: .other, key: key)
    }
  }

  /// A place only where it is one: descriptions have their names spelled out.
  private static func xmp(_ packet: ArraySlice<UInt8>) -> Kind {
    let text = String(decoding: packet, as: UTF8.self)
    return text.contains("GPSLatitude") ? .place : .other
  }

  /// Of a key of metadata: Apple's and Android's are reverse domain names.
  static func key(_ key: String) -> IdentifyingMetadata? {
    let name = key.lowercased()
    func has(_ words: String...) -> Bool { words.contains { name.contains($0) } }
    if has("location", "gps", "iso6709", "direction.", "latitude", "longitude") {
      return IdentifyingMetadata(kind: .place, key: key)
    }
    if has("author", "artist", "director", "producer", "publisher", "performer", "owner", "person", "face") {
      return IdentifyingMetadata(kind: .person, key: key)
    }
    if has(
      "make", "model", "manufacturer", "software", "camera", "android.version", "firmware", "lens", "serial", "device")
    {
      return IdentifyingMetadata(kind: .device, key: key)
    }
    // When it was, how fast, and which program wrote it, are told of many; the rest may be anything.
    if has("creationdate", "capture.fps", "encoder", "encoder_version") { return nil }
    return IdentifyingMetadata(kind: .other, key: key)
  }
}
