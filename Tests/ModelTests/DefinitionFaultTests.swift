import Definitions
import Model
import Testing

@Suite("Faults of definitions")
struct DefinitionFaultTests {
  private typealias Path = [JSONNode.Step]

  /// Each definition of media with all keys that it may have: the built-in ones, and what is optional.
  private static let complete: [(name: String, optional: [String: String])] = [
    (
      "take5-post",
      [
        "limits.audio_codecs": #"["aac"]"#, "limits.trim_seconds": "5",
        "moment": #"{"align":true,"doubt":"warn","recorded_seconds":10}"#,
        "window":
          #"{"grace_seconds":60,"early_seconds":5,"arrival_seconds":60,"upload_seconds":60,"late":"accept","outside":"refuse"}"#,
        "moderation": #""hold""#, "look": #""viewers""#, "canvas.color": ##""#102030""##,
        "outputs.composed.inset.border": ##"{"width":4,"color":"#FFFFFF"}"##,
        "outputs.clip.front.frames_per_second": "60", "outputs.clip.front.loudness": "-16",
        "outputs.composed.loudness": "-16",
      ]
    ),
    ("marker-video", [:]),
    (
      "photo-post",
      [
        "moderation": #""none""#, "look": #""none""#, "variants.photo.small.format": #""webp""#,
        "variants.photo.small.most_bytes": "40000", "variants.photo.small.full_chroma": "true",
        "limits.header_pixels": "208000000", "limits.formats": #"["jpeg","gif"]"#,
        "preview": #"{"long_edge":480,"quality":60}"#,
      ]
    ), ("reaction", [:]), ("profile-image", [:]),
  ]

  /// The JSON of a built-in definition with all optional keys.
  private static func node(_ name: String, _ optional: [String: String]) throws -> JSONNode {
    let document = try #require(Definitions.documents.first { $0.name == name })
    var node = try JSON.decode(JSONNode.self, from: document.bytes)
    for (path, json) in optional {
      // The names of roles have dots.
      let steps = path.replacing("clip.front", with: "clip/front").replacing("photo.small", with: "photo/small")
        .split(separator: ".").map { JSONNode.Step.key(String($0).replacing("/", with: ".")) }
      node[steps[...]] = try JSON.decode(JSONNode.self, from: Array(json.utf8))
    }
    return node
  }

  /// What is wrong with a definition; nil if nothing is.
  private static func reason(_ node: JSONNode) -> String? {
    do {
      return try JSON.decode(MediaDefinition.self, written: Array(node.json.utf8)).faults.first?.description
    } catch {
      return JSON.reason(error)
    }
  }

  /// The path that a reason begins with, without the index of an element at its end.
  private static func path(of reason: String) -> String {
    let path =
      reason.firstRange(of: " is missing").map { reason[..<$0.lowerBound] }
      ?? reason.firstRange(of: " is null").map { reason[..<$0.lowerBound] } ?? reason.prefix { $0 != ":" }
    return path.hasSuffix("]") ? String(path.prefix { $0 != "[" }) : String(path)
  }

  @Test("the built-in definitions have no faults", arguments: Definitions.documents.map(\.name))
  func builtIn(name: String) throws {
    let document = try #require(Definitions.documents.first { $0.name == name })
    guard document.kind == .clips || document.kind == .photos else { return }
    #expect(try JSON.decode(MediaDefinition.self, from: document.bytes).faults == [])
  }

  @Test("the definitions of the walk have every key that a definition may have")
  func completeness() throws {
    var (missing, present): (Set<String>, Set<String>) = ([], [])
    func look(_ value: Any) {
      for child in Mirror(reflecting: value).children {
        let mirror = Mirror(reflecting: child.value)
        guard mirror.displayStyle == .optional else {
          look(child.value)
          continue
        }
        if let label = child.label {
          if mirror.children.isEmpty { missing.insert(label) } else { present.insert(label) }
        }
        if let inner = mirror.children.first { look(inner.value) }
      }
    }
    for (name, optional) in Self.complete {
      let node = try Self.node(name, optional)
      #expect(Self.reason(node) == nil, "\(name)")
      look(try JSON.decode(MediaDefinition.self, from: Array(node.json.utf8)))
    }
    #expect(missing.subtracting(present) == [])
  }

  @Test(
    "each key with each wrong value is refused by its path in words, or the definition has no faults",
    arguments: complete.map { $0.name })
  func walk(name: String) throws {
    let optional = try #require(Self.complete.first { $0.name == name }).optional
    let node = try Self.node(name, optional)
    let values: [JSONNode] =
      [.text("nonsense"), .text(""), .flag(true), .object([:]), .array([]), .null]
      + [-1, 0, 0.5, 1, 3, 1e6, 1e18, 1e300].map(JSONNode.number)
    // Which of two values that do not fit is wrong is not known.
    let pairs = [
      "limits.seconds": "limits.trim_seconds", "limits.trim_seconds": "limits.seconds",
      "limits.pixels": "limits.header_pixels",
    ]
    var refused = 0
    for path in node.paths {
      let text = path.text
      for value in values {
        var changed = node
        changed[path[...]] = value
        let what = "\(name): \(text) = \(value.json)"
        guard let reason = Self.reason(changed) else {
          #expect(value.isLike(node[path[...]]) || value == .null, "\(what) is accepted")
          continue
        }
        refused += 1
        let (found, given) = (Self.path(of: reason), Self.path(of: text))
        #expect(
          found.hasPrefix(given) || given.hasPrefix(found) || pairs[given].map { found.hasPrefix($0) } == true,
          "\(what): \(reason)")
        for word in ["Dictionary", "Array<", "Expected to decode", "Parsed JSON", "Swift"] {
          #expect(!reason.contains(word), "\(what): \(reason)")
        }
      }
    }
    #expect(refused > 100)
  }

  /// A value at a path of a built-in definition, and whether it can be used.
  private static let bounds: [(name: String, path: String, good: [String], bad: [String])] = [
    ("take5-post", "deadline_seconds", ["10", "86400"], ["-1", "0", "9", "86401"]),
    ("take5-post", "attempts", ["1", "1000"], ["0", "1001"]),
    ("take5-post", "version", ["0", "2147483647"], ["-1", "2147483648"]),
    (
      "take5-post", "inputs", [#"{"front":{"kind":"video"},"back":{"kind":"video"}}"#],
      ["{}", #"{"front":{"kind":"video"}}"#]
    ),
    ("take5-post", "limits.seconds", ["[4.5,5.5]", "[0,86400]"], ["[5,4]", "[0,0]", "[4.5]", "[0,86401]", "null"]),
    ("take5-post", "limits.bytes", ["65536", "1000000000000000"], ["0", "65535", "-1"]),
    ("take5-post", "limits.pixels", ["76800"], ["0", "76799"]),
    ("take5-post", "limits.frames_per_second", ["24", "1000"], ["0", "23.9", "1001"]),
    ("take5-post", "limits.streams", ["1", "1000"], ["0", "1001"]),
    ("take5-post", "limits.containers", [#"["webm"]"#], ["[]", #"["avi"]"#]),
    ("take5-post", "limits.video_codecs", [#"["hevc"]"#], ["[]", #"["h265"]"#]),
    ("take5-post", "limits.difference_seconds", ["0.04", "86400"], ["-1", "0", "86401"]),
    ("take5-post", "canvas.width", ["1080", "540"], ["0", "63", "1079", "4098"]),
    ("take5-post", "canvas.height", ["1920", "3840"], ["0", "1921", "4098"]),
    ("take5-post", "canvas.frames_per_second", ["1", "240"], ["0", "241", "29.97"]),
    ("take5-post", "outputs.composed.inset.width", ["0.05", "0.9"], ["0", "-0.1", "1.1", "0.001"]),
    ("take5-post", "outputs.composed.inset.margin", ["0", "700"], ["-1", "800"]),
    ("take5-post", "outputs.composed.inset.radius", ["0", "16384"], ["-1", "16385"]),
    (
      "take5-post", "outputs.composed.inset.border",
      [##"{"width":0,"color":"#FFFFFF"}"##, ##"{"width":5,"color":"#FFFFFF"}"##],
      [
        ##"{"width":-1,"color":"#FFFFFF"}"##, ##"{"width":1,"color":"#FFFFFF"}"##,
        ##"{"width":400,"color":"#FFFFFF"}"##,
      ]
    ),
    ("take5-post", "outputs.composed.seconds", ["[4.5,5.034]", "[5.5,6]"], ["[5.6,6]", "[0,0]", "[6,5]"]),
    ("take5-post", "outputs.composed.video.preset", [#""ultrafast""#, #""placebo""#], [#""quick""#, #""""#, "1"]),
    ("take5-post", "outputs.composed.video.crf", ["1", "51"], ["-5", "0", "51.5", "99", #""low""#]),
    (
      "take5-post", "outputs.composed.video.x264", [#"{"bframes":16}"#, "{}"],
      [#"{"bframes":17}"#, #"{"bframe":1}"#, #"{"threads":2}"#]
    ),
    ("take5-post", "outputs.poster.at", ["0", "86400"], ["-1", "86401"]),
    ("take5-post", "outputs.poster.long_edge", ["16", "16384"], ["0", "15", "16385"]),
    ("take5-post", "outputs.poster.quality", ["1", "100"], ["0", "101"]),
    ("take5-post", "outputs.preview.seconds", ["0.1", "30"], ["0", "31"]),
    ("take5-post", "outputs.preview.frames_per_second", ["1", "60"], ["0", "61"]),
    ("marker-video", "outputs.clip.frames_per_second", ["1", "240"], ["0", "241"]),
    ("marker-video", "outputs.clip.long_edge", ["16", "16384"], ["15", "16385"]),
    ("photo-post", "deadline_seconds", ["10"], ["0", "9"]),
    ("photo-post", "photos", ["1", "1000"], ["0", "1001"]),
    ("photo-post", "limits.bytes", ["4096"], ["0", "4095"]),
    ("reaction", "limits.pixels", ["76800"], ["0", "76799"]),
    ("photo-post", "limits.header_pixels", ["64000000", "2048000000"], ["-1", "63999999", "2048000001"]),
    ("photo-post", "limits.formats", [#"["png"]"#, #"["jpeg","gif"]"#], ["[]", #"["bmp"]"#]),
    (
      "photo-post", "variants", [#"{"photo.large":{"long_edge":16,"quality":1}}"#],
      [
        "{}", #"{"photo.large":{"long_edge":15,"quality":1}}"#,
        #"{"photo.large":{"long_edge":16,"quality":1,"most_bytes":0}}"#,
      ]
    ),
  ]

  @Test(
    "of each value the smallest and the largest can be used, and one beyond is refused by its path",
    arguments: bounds.indices)
  func edges(index: Int) throws {
    let (name, path, good, bad) = Self.bounds[index]
    let node = try Self.node(name, [:])
    func reason(_ json: String) throws -> String? {
      var changed = node
      changed[path.split(separator: ".").map { JSONNode.Step.key(String($0)) }[...]] = try JSON.decode(
        JSONNode.self, from: Array(json.utf8))
      return Self.reason(changed)
    }
    for json in good { #expect(try reason(json) == nil, "\(path) = \(json)") }
    for json in bad {
      let found = try reason(json)
      let parent = path.firstRange(of: ".inset.").map { path[..<$0.lowerBound] + ".inset" } ?? path[...]
      #expect(
        found?.hasPrefix(path) == true || found?.hasPrefix(parent) == true, "\(path) = \(json): \(found ?? "accepted")")
    }
  }

  @Test("a preview has an edge and a quality in their ranges, and a format that is animated")
  func preview() throws {
    func reason(_ preview: String, _ formats: String = #"["gif"]"#) throws -> String? {
      Self.reason(try Self.node("photo-post", ["limits.formats": formats, "preview": preview]))
    }
    for (edge, quality) in [(16, 1), (480, 60), (1024, 100)] {
      #expect(try reason(#"{"long_edge":\#(edge),"quality":\#(quality)}"#) == nil)
    }
    for edge in [-1, 0, 15, 1025, 16_384, 16_385] {
      #expect(try reason(#"{"long_edge":\#(edge),"quality":60}"#)?.hasPrefix("preview.long_edge: ") == true)
    }
    for quality in [-1, 0, 101] {
      #expect(try reason(#"{"long_edge":480,"quality":\#(quality)}"#)?.hasPrefix("preview.quality: ") == true)
    }
    #expect(try reason(#"{"long_edge":480}"#)?.hasPrefix("preview.quality ") == true)
    let unanimated = try reason(#"{"long_edge":480,"quality":60}"#, #"["jpeg","webp"]"#)
    #expect(unanimated == "preview: no photo would have one: 'limits.formats' needs gif")
  }

  @Test("all faults are found at once, each with its path and what to write")
  func all() throws {
    let node = try Self.node("take5-post", [:])
    let text = node.json.replacing("\"deadline_seconds\":120", with: "\"deadline_seconds\":0")
      .replacing("\"preset\":\"superfast\"", with: "\"preset\":\"quick\"").replacing("\"crf\":26", with: "\"crf\":99")
    let faults = try JSON.decode(MediaDefinition.self, from: Array(text.utf8)).faults
    #expect(
      faults.map(\.path) == [
        "deadline_seconds", "outputs.composed.video.preset", "outputs.composed.small.video.preset",
        "outputs.composed.small.video.crf", "outputs.clip.front.video.preset", "outputs.clip.back.video.preset",
      ])
    #expect(faults.first?.description == "deadline_seconds: 0 is not between 10 and 86400")
    #expect(faults.dropFirst().first?.reason.hasPrefix("'quick' is not one of ultrafast, superfast") == true)
  }

  @Test("a stored definition is read although a file with it would be refused")
  func stored() throws {
    let node = try Self.node("take5-post", [:])
    let text = node.json.replacing("\"deadline_seconds\":120", with: "\"deadline_seconds\":1")
    #expect(try JSON.decode(Definition.self, from: Array(text.utf8)).deadlineSeconds == 1)
  }
}
