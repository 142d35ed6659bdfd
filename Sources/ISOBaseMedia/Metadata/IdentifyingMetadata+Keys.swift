import Model

extension IdentifyingMetadata {
  /// Classifies an entry of user data, or a similar box (Apple, QuickTime File Format, "User Data Atoms";
  /// 3GPP TS 26.244, clause 8).
  static func userData(_ box: Box) -> IdentifyingMetadata? {
    let key = box.type.latin
    switch key {
    case "uuid": return named(box.content)
    case "XMP_": return IdentifyingMetadata(kind: xmp(box.content), key: key)
    default: return userData(box.type)
    }
  }

  /// Classifies an entry of user data by its type alone.
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
    // The time, the writing program and playback settings are not identifying.
    case "©too", "©enc", "©day", "date", "yrrc", "free", "skip", "hnti", "hinf", "hinv", "kind", "tsel", "strk", "ptv ",
      "LOOP", "AllF", "SelO", "WLOC":
      return nil
    // Unknown types may hold anything; unprintable types are padding.
    default: return type.isName ? IdentifyingMetadata(kind: .other, key: key) : nil
    }
  }

  /// Classifies a `uuid` box by the first 16 bytes of its content (ISO/IEC 14496-12, 11.1).
  static func named(_ content: ArraySlice<UInt8>) -> IdentifyingMetadata {
    let name = content.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    switch name {
    // XMP (ISO 16684-1; Adobe, XMP Specification, part 3).
    case "be7acfcb97a942e89c71999491e3afac": return IdentifyingMetadata(kind: xmp(content.dropFirst(16)), key: "XMP")
    // Canon, Sony.
    case "85c0b687820f11e08111f4ce462b6a48", "55534d5421d24fcebb88695cfac9c740":
      return IdentifyingMetadata(kind: .device, key: "uuid")
    default: return IdentifyingMetadata(kind: .other, key: "uuid")
    }
  }

  /// Classifies a top-level box; nil for boxes that every file has.
  static func outermost(_ type: BoxType) -> IdentifyingMetadata? {
    switch type {
    case "meta", "udta", "sefd", "gps ", "gps0", "udat", "frea": userData(type)
    default: nil
    }
  }

  /// Classifies a metadata track by its sample entry: location, orientation of the phone, detected faces.
  static func timed(_ entry: Box) -> IdentifyingMetadata? {
    let key = entry.type.latin
    switch key {
    case "gpmd", "camm", "GPS ", "gps ", "djmd": return IdentifyingMetadata(kind: .place, key: key)
    case "rtmd", "CTMD", "dbgi", "fdsc": return IdentifyingMetadata(kind: .device, key: key)
    case "mebx":
      let names = entry.children(after: 8).first { $0.type == "keys" }?.children().compactMap { $0.child("keyd") } ?? []
      let keys = names.compactMap { $0.reader.text(at: 4, count: $0.content.count - 4) }
      let isPlace = keys.contains { IdentifyingMetadata.key($0)?.kind == .place }
      return IdentifyingMetadata(kind: isPlace ? .place : .other, key: key)
    // Time codes and hint tracks.
    case "tmcd", "rtp ", "srtp": return nil
    default: return IdentifyingMetadata(kind: .other, key: key)
    }
  }

  /// The kind of an XMP packet: RDF spells out the names of properties.
  private static func xmp(_ packet: ArraySlice<UInt8>) -> Kind {
    let text = String(decoding: packet, as: UTF8.self)
    return text.contains("GPSLatitude") ? .place : .other
  }

  /// Classifies a key of metadata; Apple's and Android's keys are reverse domain names.
  static func key(_ key: String) -> IdentifyingMetadata? {
    let name = key.lowercased()
    func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
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
    // The time, the frame rate and the writing program are not identifying; unknown keys may hold anything.
    if has("creationdate", "capture.fps", "encoder", "encoder_version") { return nil }
    return IdentifyingMetadata(kind: .other, key: key)
  }
}
