import Model

extension Identification {
  /// Of an entry of user data (Apple, QuickTime File Format, "User Data Atoms"; 3GPP TS 26.244, clause 8).
  static func userData(_ type: BoxType) -> Identification? {
    let key = type.latin
    switch key {
    case "©xyz", "loci", "GPMF", "SGPS": return Identification(kind: .place, key: key)
    case "©mak", "©mod", "©swr", "©mal", "©inf", "manu", "modl", "FIRM", "LENS", "CAME", "MUID", "smrd", "smta", "SDLN",
      "SEFD", "mvhd.samsung", "CNDA", "CNCV", "CNTH", "MMA0", "PENT":
      return Identification(kind: .device, key: key)
    case "©ART", "©aut", "©prf", "©src", "auth", "perf", "©own", "©phg": return Identification(kind: .person, key: key)
    case "©nam", "©cmt", "©des", "©inf ", "titl", "dscp", "desc", "XMP_", "©key", "kywd", "albm", "cprt", "©cpy",
      "gnre":
      return Identification(kind: .other, key: key)
    default: return nil
    }
  }

  /// Of a key of metadata: Apple's and Android's are reverse domain names.
  static func key(_ key: String) -> Identification? {
    let name = key.lowercased()
    func has(_ words: String...) -> Bool { words.contains { name.contains($0) } }
    if has("location", "gps", "iso6709", "direction.", "latitude", "longitude") {
      return Identification(kind: .place, key: key)
    }
    if has("author", "artist", "director", "producer", "publisher", "performer", "owner", "person", "face") {
      return Identification(kind: .person, key: key)
    }
    if has(
      "make", "model", "manufacturer", "software", "camera", "android.version", "firmware", "lens", "serial", "device")
    {
      return Identification(kind: .device, key: key)
    }
    // When it was, how fast, and which program wrote it, are told of many; the rest may be anything.
    if has("creationdate", "capture.fps", "encoder", "encoder_version") { return nil }
    return Identification(kind: .other, key: key)
  }
}
