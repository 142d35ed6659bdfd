/// A file of one track whose first sample comes again in a fragment for each decoding time, and whose own tables are
/// empty (ISO/IEC 14496-12, 8.8); nil where it has no such tables.
package func fragmenting(_ file: [UInt8], at ticks: [Int64]) -> [UInt8]? {
  let none: [UInt8] = [0, 0, 0, 0]
  let one = bigEndian(UInt32(1))
  guard
    var file = inserting(box("mvex", box("trex", none, one, one, none, none, none)), into: ["moov"], of: file),
    let offsets = table("stco", of: file), let sizes = table("stsz", of: file)
  else { return nil }
  let start = number(file, offsets + 16)
  let sample = file[start..<start + number(file, sizes + 20)]
  for type in ["stts", "stss", "ctts", "stsc", "stco"] {
    if let table = table(type, of: file) { write(0, at: table + 12, of: &file) }
  }
  write(0, at: sizes + 16, of: &file)
  // Data offsets count from the `moof` box; a run tells the offset, and its sample's duration and length.
  func fragment(at ticks: Int64, dataOffset: Int) -> [UInt8] {
    let run = box(
      "trun", [0, 0, 3, 1], one, bigEndian(UInt32(dataOffset)), bigEndian(UInt32(512)),
      bigEndian(UInt32(sample.count)))
    let track = box("traf", box("tfhd", [0, 2, 0, 0], one), box("tfdt", [1, 0, 0, 0], bigEndian(ticks)), run)
    return box("moof", box("mfhd", none, one), track)
  }
  for ticks in ticks {
    let size = fragment(at: ticks, dataOffset: 0).count
    file += fragment(at: ticks, dataOffset: size + 8) + box("mdat", Array(sample))
  }
  return file
}

/// Where the first box of a type begins that lies in front of the media.
private func table(_ type: String, of file: [UInt8]) -> Int? {
  let name = Array(type.utf8)
  return (0..<file.count - 8).first { file[($0 + 4)..<($0 + 8)].elementsEqual(name) }
}
