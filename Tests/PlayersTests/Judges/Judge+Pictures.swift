extension Judge {
  /// libjpeg-turbo's command, to which warnings are errors.
  static let djpeg = Judge("djpeg", reads: ["image/jpeg"]) { output in
    try await Program.run("djpeg", ["-strict", "-outfile", "/dev/null", output.path]).findings
  }

  /// libwebp's command that walks through all chunks and bitstreams.
  static let webpinfo = Judge("webpinfo", reads: ["image/webp"]) { output in
    let run = try await Program.run("webpinfo", ["-diag", output.path])
    let lines = run.output.split(separator: "\n")
    let complaints = lines.filter { $0.hasPrefix("Error") || $0.hasPrefix("Warning") }.map(String.init)
    return run.findings + complaints
      + (lines.contains("No error detected.") ? [] : ["does not say that it is free of errors"])
  }

  /// libavif's decoder, which holds files against MIAF (ISO/IEC 23000-22) more strictly than libheif, which wrote them.
  static let avifdec = Judge("avifdec", reads: ["image/avif"]) { output in
    let run = try await Program.run("avifdec", ["--jobs", "1", output.path, "\(output.path).png"])
    return run.findings + (run.output.contains("WARNING") ? [run.output] : [])
  }

  /// libvips, which stops at the first warning of the library that it reads a format with.
  static let vips = Judge("vips", reads: ["image/jpeg", "image/webp", "image/avif"]) { output in
    let pages = output.type == "image/webp" ? ",n=-1" : ""
    // Its own warnings, unlike those of the libraries, tell what it has no use for.
    let environment = ["VIPS_WARNING": "off"]
    let words = ["avg", "\(output.path)[fail-on=warning\(pages)]"]
    return try await Program.run("vips", words, environment: environment).findings
  }
}
