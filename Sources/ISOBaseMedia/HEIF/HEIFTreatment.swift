/// What becomes of a reference between items, or of a property of an item, of the image that is shown.
package enum HEIFTreatment: String, Sendable, CaseIterable {
  /// It is in the rewritten file, for the decoder.
  case kept
  /// This program does what it says, and leaves it out.
  case applied
  /// The image is refused: without it, another image would be shown. A property is, where the file says that it is essential.
  case refused
  /// It is left out: the image is the same without it.
  case leftOut = "left out"

  /// By the type of a reference from an item of the image to others (ISO/IEC 23008-12, 6.4, 6.6 and 6.10; ISO/IEC 23000-22, 7.3.5). Those of
  /// other types are left out.
  package static let references: [BoxType: HEIFTreatment] = [
    // Of auxiliary images only the alpha channel.
    "auxl": .kept, "dimg": .kept, "prem": .kept,
    // From the Exif data.
    "cdsc": .applied,
    // What the item is decoded from: tiles, layers, and images that it is predicted from.
    "exbl": .refused, "pred": .refused, "tbas": .refused,
    // `base`: what an image was derived from before it was coded.
    "base": .leftOut, "mask": .leftOut, "thmb": .leftOut,
  ]

  /// By the type of a property (ISO/IEC 23008-12, 6.5; AV1 Image File Format 1.1, 2.3). Others are refused, as those that choose among layers
  /// are, or transform the image in another way.
  package static let properties: [BoxType: HEIFTreatment] = [
    "auxC": .kept, "av1C": .kept, "clap": .kept, "colr": .kept, "hvcC": .kept, "ispe": .kept, "pixi": .kept,
    // Of the tiles and layers of an image by the decoder.
    "imir": .applied, "irot": .applied,
    "a1op": .refused, "iscl": .refused, "lsel": .refused, "oinf": .refused, "rref": .refused,
    "a1lx": .leftOut, "altt": .leftOut, "amve": .leftOut, "cclv": .leftOut, "clli": .leftOut, "crtt": .leftOut,
    "mdcv": .leftOut, "mdft": .leftOut, "ndwt": .leftOut, "pasp": .leftOut, "reve": .leftOut, "rloc": .leftOut,
    "udes": .leftOut,
  ]
}
