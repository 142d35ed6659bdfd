import FoundationEssentials
import Postgres
import Testing

/// Compares the look-ups of statements in the sources with the `.sql` files of their targets.
@Suite("Names of statements")
struct StatementNamesTests {
  /// The targets; the kit and the rooms insert the fragments of the store.
  static let targets = [["Queue"], ["Store", "Kit", "Rooms"], ["Integrity"]]

  @Test("every target with statements is checked")
  func all() throws {
    let sources = try FileManager.default.contentsOfDirectory(atPath: SourceTarget.sources)
    let targets = try sources.filter { try SourceTarget.hasStatements($0) }
    #expect(targets.sorted() == Self.targets.flatMap(\.self).sorted())
  }

  @Test("every look-up names a statement, and every statement is looked up", arguments: targets)
  func lookups(target: [String]) throws {
    let target = try SourceTarget(target)
    #expect(!target.files.isEmpty)
    #expect(target.violations == [])
  }

  @Test("every fragment is used, and nothing that looks like one is left", arguments: targets)
  func fragments(target: [String]) throws {
    let target = try SourceTarget(target)
    for (file, text) in target.files {
      for fragment in text.matches(of: /(?m)^-- fragment: (\w+)/) {
        let isUsed = target.files.values.contains { $0.contains("{\(fragment.1)}") || $0.contains("{\(fragment.1)(") }
        #expect(isUsed, "\(file): fragment \(fragment.1) is not used")
      }
    }
    for (name, statements) in target.statements {
      for statement in statements.names {
        #expect(!statements[statement].text.contains(/\{\w+\(/), "\(name): \(statement)")
      }
    }
  }

  @Test("a look-up of an unknown or computed name, and a statement without a look-up, are violations")
  func violations() throws {
    let target = try SourceTarget(
      swift: """
        static let statements = Statements(topic: "topic", RoomsSQL.One, RoomsSQL.Two)
        try session.execute(Self.statements["known"]); statements[ "unknown" ]; statements[name]
        """,
      files: ["One": "-- name: known\n{two}\n-- name: forgotten\n2", "Two": "-- fragment: two\n2", "Three": ""])
    #expect(
      target.violations == [
        "Three.sql is not loaded", "statements: forgotten is not looked up", "statements: unknown does not exist",
        "statements[name]: the name is computed",
      ])
  }

  @Test("a look-up is one of the statements of its own type, or of the type that it names")
  func types() throws {
    let target = try SourceTarget(
      swift: """
        enum First {
          static let statements = Statements(topic: "first", RoomsSQL.First)
          func read() { [Self.statements["one"], Second.statements["three"]] }
        }
        package enum Second: Room {
          static let statements = Statements(topic: "second", RoomsSQL.Second)
          func read() { statements["two"] }
        }
        """,
      files: ["First": "-- name: one\n1\n-- name: two\n2", "Second": "-- name: three\n3"])
    #expect(
      target.violations == ["First.statements: two is not looked up", "Second.statements: two does not exist"])
  }
}

/// The look-ups and the statements of a target.
private struct SourceTarget {
  static let sources = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"

  /// The `.sql` files with statements, by name without suffix.
  let files: [String: String]
  /// The statements, by the name of the Swift property.
  let statements: [String: Statements]
  /// What is wrong with the look-ups, sorted.
  let violations: [String]

  static func hasStatements(_ name: String) throws -> Bool {
    try FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(name)").contains { $0.hasSuffix(".sql") }
  }

  /// Reads targets in `Sources`.
  init(_ names: [String]) throws {
    var (swift, files): (String, [String: String]) = ("", [:])
    for name in names {
      let folder = "\(Self.sources)/\(name)"
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() {
        let isMigration = path.contains(/\/(v\d+_|\w+_schema\.)/)
        guard path.hasSuffix(".swift") || path.hasSuffix(".sql") && !isMigration else { continue }
        let text = String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\(path)")), as: UTF8.self)
        if path.hasSuffix(".swift") {
          swift += text
        } else {
          files[String(path.split(separator: "/").last?.dropLast(".sql".count) ?? "")] = text
        }
      }
    }
    try self.init(swift: swift, files: files)
  }

  init(swift: String, files: [String: String]) throws {
    let types = swift.matches(of: /(?m)^(?:\w+ )*(?:enum|struct|class|protocol|extension) (\w+)/)
    // The property with its type, which a look-up in another one names.
    func property(_ name: Substring, of type: Substring?, at position: String.Index) -> String {
      let enclosing = types.last(where: { $0.range.lowerBound < position })?.output.1
      return [type == "Self" ? enclosing : type ?? enclosing, name].compactMap(\.self).joined(separator: ".")
    }
    let lookups = Dictionary(grouping: swift.matches(of: /(?:(\w+)\.)?(\w+)\[\s*([^\]]*?)\s*\]/)) { lookup in
      property(lookup.2, of: lookup.1, at: lookup.range.lowerBound)
    }
    // Those that the program knows, by name.
    let known = swift.matches(of: /static let fragments = \[\n((?:.*\n)*?)  \]/).flatMap {
      $0.1.matches(of: /"(\w+)":/)
    }
    let fragments = Dictionary(known.map { (String($0.1), "known") }) { first, _ in first }
    var statements: [String: Statements] = [:]
    var (loaded, violations): (Set<String>, [String]) = ([], [])
    for declaration in swift.matches(of: /(\w+) = Statements\(\s*topic: "(\w+)",([^)]*)\)/) {
      let name = property(declaration.1, of: nil, at: declaration.range.lowerBound)
      let names = declaration.3.replacing("Store.fragments", with: "StoreSQL.Fragments")
        .matches(of: /[A-Z]\w+SQL\.(\w+)/).map { String($0.1) }
      loaded.formUnion(names)
      let found = try Statements(
        topic: String(declaration.2), parsing: names.map { Array((files[$0] ?? "").utf8) }, fragments: fragments)
      statements[name] = found
      var lookedUp: Set<String> = []
      for lookup in lookups[name] ?? [] {
        if let literal = lookup.3.wholeMatch(of: /"(\w+)"/) {
          lookedUp.insert(String(literal.1))
        } else {
          violations.append("\(lookup.0): the name is computed")
        }
      }
      violations += lookedUp.subtracting(found.names).map { "\(name): \($0) does not exist" }
      violations += Set(found.names).subtracting(lookedUp).map { "\(name): \($0) is not looked up" }
    }
    violations += Set(files.keys).subtracting(loaded).map { "\($0).sql is not loaded" }
    (self.files, self.statements, self.violations) = (files, statements, violations.sorted())
  }
}
