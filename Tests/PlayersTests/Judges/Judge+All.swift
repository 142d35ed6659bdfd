extension Judge {
  /// Every judge, in the order of the table; a further one is a line here.
  static let all = [openh264, faad, ffmpeg, copies, mediainfo, exiftool, djpeg, webpinfo, avifdec, vips, chromium]
}
